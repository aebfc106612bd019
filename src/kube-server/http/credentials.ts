/**
 * The user of a request: of a client certificate that our authority issued, of a bearer token, or anonymous.
 *
 * An invalid credential is rejected on every path; only a request without one is anonymous.
 */
import { err, ok, type Clock, type Result } from "#base";
import type { HttpRequest } from "#listener";
import type { User } from "../protocol/request.ts";
import { certificateUser } from "./client-certificate.ts";

export type CredentialOptions = {
  /** The user of a bearer token. */
  readonly authenticate: (token: string) => User | undefined;
  /** The user of requests without a credential; absent: they are rejected. */
  readonly anonymous?: User | undefined;
  readonly clock: Clock;
};

export type Sender = { readonly user: User; readonly warnings: readonly string[] };

/** The error has no details: clients do not learn what was wrong with a credential. */
export function senderOf(request: HttpRequest, { authenticate, anonymous, clock }: CredentialOptions): Result<Sender, undefined> {
  const certified = certificateUser(request, clock.now());
  if (certified?.ok === true) return ok({ user: certified.value, warnings: [] });
  const { token, warnings } = bearerToken(request.headers.authorization ?? "");
  const user = token === undefined ? undefined : authenticate(token);
  if (user !== undefined) return ok({ user, warnings });
  const bad = token !== undefined || certified !== undefined;
  return bad || anonymous === undefined ? err(undefined) : ok({ user: anonymous, warnings });
}

const EXTRA_SPACE = "the provided Authorization header contains extra space before the bearer token, and is ignored";

/** As kube-apiserver reads it: another scheme, or no token after it, is no credential. */
function bearerToken(authorization: string): { readonly token: string | undefined; readonly warnings: readonly string[] } {
  const [scheme = "", token = "", ...rest] = authorization.trim().split(" ");
  if (scheme.toLowerCase() !== "bearer" || token === "") {
    return { token: undefined, warnings: scheme.toLowerCase() === "bearer" && rest.length === 1 ? [EXTRA_SPACE] : [] };
  }
  return { token, warnings: [] };
}
