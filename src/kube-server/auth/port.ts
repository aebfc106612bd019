/** Who somebody is and what he may do, as questions and their answers. Always answered at once: keys and rules are in this server. */
import type { Result } from "#base";
import type { User } from "../rest/request.ts";

export type Access =
  | {
      readonly kind: "resource";
      readonly verb: string;
      readonly group: string;
      readonly version: string;
      /** The plural. */
      readonly resource: string;
      readonly subresource: string | undefined;
      readonly namespace: string | undefined;
      /** "" when the request names none. */
      readonly name: string;
    }
  | { readonly kind: "path"; readonly verb: string; readonly path: string };

export type Decision = { readonly allowed: boolean; readonly reason: string };

export type Authorizer = (user: User, access: Access) => Decision;

/** Somebody whose credential was good, and for which audiences it was. */
export type Identity = { readonly user: User; readonly audiences: readonly string[] };

/** The error is what a TokenReview says; it never holds the token. */
export type TokenAuthenticator = (token: string, audiences: readonly string[]) => Result<Identity, string>;
