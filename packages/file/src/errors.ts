const remedies: Record<string, string> = {
  EACCES: 'this user may not write there; choose another directory',
  EDQUOT: "this user's share of the disk is used up; free some space",
  EEXIST: 'a file stands where the directory belongs; choose another directory',
  ELOOP: 'a symbolic link stands where a file belongs; remove it',
  EMFILE: 'this process has too many files open',
  ENFILE: 'this machine has too many files open',
  ENOSPC: 'the disk is full; free some space',
  ENOTDIR: 'a part of its path is a file; choose another directory',
  EROFS: 'the file system is read-only; choose a directory that can be written',
};

/** An error with advice. Core puts the code and the advice into its own error. */
export function errorWithAdvice(code: string, message: string): Error {
  return Object.assign(new Error(`[service-auth/file] ${message}`), { code, advice: message });
}

/** True if an error has one of these codes. */
export function isCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(String((error as { code?: unknown } | undefined)?.code));
}

/** Adds advice to the error of a system call. Returns any other error unchanged. */
export function explained(error: unknown, directory: string): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error;
  const code = String(error.code);
  return errorWithAdvice(code, `${directory} cannot be used: ${remedies[code] ?? error.message}.`);
}
