/** One line of `service-auth doctor`. */
export interface Diagnosis {
  readonly state: 'ok' | 'warning' | 'failure';
  readonly message: string;
  readonly advice?: string | undefined;
}

export function ok(message: string): Diagnosis {
  return { state: 'ok', message };
}

export function warning(message: string, advice?: string): Diagnosis {
  return { state: 'warning', message, advice };
}

export function failure(message: string, advice?: string): Diagnosis {
  return { state: 'failure', message, advice };
}

/** A replica keeps no record. `what`: the server, and why it takes no writes. */
export function takesNoWrites(what: string): Diagnosis {
  return failure(what, 'name the primary server.');
}
