/** Who may do what, as a question and its answer. Always answered at once: the rules are in this server's own store. */
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
