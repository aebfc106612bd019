/** Whom a bearer token belongs to: the tokens that the server was given, and those of ServiceAccounts. */
import { err, map, ok } from "#base";
import type { User } from "../rest/request.ts";
import type { TokenAuthenticator } from "./port.ts";
import { API_AUDIENCES, type AccountTokens } from "./tokens/account-tokens.ts";
import { authenticated } from "./users.ts";

export type Authentication = {
  /** With the reason of a refusal, for a TokenReview. */
  readonly ofToken: TokenAuthenticator;
  /** For a request to this server: `undefined` is a 401, whatever the reason. */
  readonly userOf: (token: string) => User | undefined;
  readonly accounts: AccountTokens;
};

const UNKNOWN = "invalid bearer token";

export function createAuthentication(
  accounts: AccountTokens,
  known: (token: string) => User | undefined = () => undefined,
): Authentication {
  const ofToken: TokenAuthenticator = (token, audiences) => {
    const user = known(token);
    // these tokens say nothing of audiences: they are for this server
    const common = user === undefined ? [] : API_AUDIENCES.filter((audience) => audiences.includes(audience));
    if (user !== undefined && common.length > 0) return ok({ user, audiences: common });
    const account = accounts.authenticate(token, audiences);
    if (account === undefined) return err(UNKNOWN);
    if (!account.ok) return err(`[${UNKNOWN}, ${account.error}]`);
    return map(account, (identity) => ({ ...identity, user: authenticated(identity.user) }));
  };
  const userOf = (token: string) => {
    const found = ofToken(token, API_AUDIENCES);
    return found.ok ? found.value.user : undefined;
  };
  return { accounts, ofToken, userOf };
}
