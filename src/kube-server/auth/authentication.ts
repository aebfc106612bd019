/** Authenticates bearer tokens: static tokens and those of ServiceAccounts. */
import { err, map, ok } from "#base";
import type { User } from "../protocol/request.ts";
import type { AccountTokens, Authentication, TokenAuthenticator } from "../protocol/auth-port.ts";
import { API_AUDIENCES } from "./tokens/account-tokens.ts";
import { authenticated } from "./users.ts";

const UNKNOWN = "invalid bearer token";

export function createAuthentication(
  accounts: AccountTokens,
  known: (token: string) => User | undefined = () => undefined,
): Authentication {
  const ofToken: TokenAuthenticator = (token, audiences) => {
    const user = known(token);
    // static tokens have no audiences: they are valid for this server
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
