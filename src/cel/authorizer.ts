/** The port to an authorizer for expressions, and the values of its library. */
import type { OpaqueContent } from "./values.ts";

export type AccessCheck =
  | { readonly kind: "path"; readonly verb: string; readonly path: string }
  | {
      readonly kind: "resource";
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
    };

/** Decides about the access of one user. */
export interface CelAuthorizer {
  check(access: AccessCheck): { readonly allowed: boolean; readonly reason: string };
  forServiceAccount(namespace: string, name: string): CelAuthorizer;
}

export type ResourceAccessCheck = Omit<Extract<AccessCheck, { kind: "resource" }>, "verb" | "kind">;

export type AuthorizationContent =
  | { readonly of: "authorizer"; readonly authorizer: CelAuthorizer }
  | { readonly of: "pathCheck"; readonly authorizer: CelAuthorizer; readonly path: string }
  | { readonly of: "groupCheck"; readonly authorizer: CelAuthorizer; readonly group: string }
  | { readonly of: "resourceCheck"; readonly authorizer: CelAuthorizer; readonly access: ResourceAccessCheck }
  | { readonly of: "decision"; readonly allowed: boolean; readonly reason: string };

const KINDS: ReadonlySet<string> = new Set(["authorizer", "pathCheck", "groupCheck", "resourceCheck", "decision"]);

export function isAuthorization(content: OpaqueContent): content is AuthorizationContent {
  return KINDS.has(content.of);
}
