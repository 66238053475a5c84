/** An error of a store. Core puts its name, its code and its advice into `ERR_STORE`, and nothing else. */
export function storeError(name: string, code: unknown, problem: string, advice: string): Error {
  return Object.assign(new Error(`${problem}: ${advice}`), { name, code, advice });
}
