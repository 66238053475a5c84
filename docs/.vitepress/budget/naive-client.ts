/** A token in a variable, and another one after a 401. */
export function createNaiveClient(requestToken: () => Promise<string>): NaiveClient {
  // #region client
  let token: string | undefined;
  const getToken = async () => (token ??= await requestToken());
  const onUnauthorized = () => {
    token = undefined;
  };
  // #endregion client
  return { getToken, onUnauthorized, peekToken: () => token };
}

/** The client of one process. */
export interface NaiveClient {
  getToken(): Promise<string>;
  /** The API answered 401. */
  onUnauthorized(): void;
  peekToken(): string | undefined;
}
