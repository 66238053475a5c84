/** An error of a store. Core puts only its name, its code and its advice into `ERR_STORE`. */
export function storeError(name: string, code: unknown, advice: string): Error {
  return Object.assign(new Error(`${name}: ${advice}`), { name, code, advice });
}
