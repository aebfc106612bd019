/**
 * Who sent a request: a client certificate that our authority issued, a bearer token, or nobody.
 *
 * A credential that is wrong is refused, whatever is asked for; only who brings none is anonymous.
 */
import { err, ok, type Clock, type Result } from "#base";
import type { HttpRequest } from "#listener";
import type { User } from "../protocol/request.ts";
import { certificateUser } from "./client-certificate.ts";

export type Credentials = {
  /** Whom a bearer token belongs to. */
  readonly authenticate: (token: string) => User | undefined;
  /** As whom goes on who brings no credential; without it that is refused as well. */
  readonly anonymous?: User | undefined;
  readonly clock: Clock;
};

export type Sender = { readonly user: User; readonly warnings: readonly string[] };

/** The error says nothing: what was wrong with a credential is nobody's business but the server's. */
export function senderOf(request: HttpRequest, { authenticate, anonymous, clock }: Credentials): Result<Sender, undefined> {
  const certified = certificateUser(request, clock.now());
  if (certified?.ok === true) return ok({ user: certified.value, warnings: [] });
  const { token, warnings } = bearerToken(request.headers.authorization ?? "");
  const user = token === undefined ? undefined : authenticate(token);
  if (user !== undefined) return ok({ user, warnings });
  const bad = token !== undefined || certified !== undefined;
  return bad || anonymous === undefined ? err(undefined) : ok({ user: anonymous, warnings });
}

const EXTRA_SPACE = "the provided Authorization header contains extra space before the bearer token, and is ignored";

/** As the real server reads it: another scheme, or no word behind it, is no credential. */
function bearerToken(authorization: string): { readonly token: string | undefined; readonly warnings: readonly string[] } {
  const [scheme = "", token = "", ...rest] = authorization.trim().split(" ");
  if (scheme.toLowerCase() !== "bearer" || token === "") {
    return { token: undefined, warnings: scheme.toLowerCase() === "bearer" && rest.length === 1 ? [EXTRA_SPACE] : [] };
  }
  return { token, warnings: [] };
}
