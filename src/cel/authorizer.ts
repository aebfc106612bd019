/** What an expression may ask of the authorizer, and the values that such questions are made of. */
import type { OpaqueContent } from "./values.ts";

export type AuthorizationQuestion =
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

/** Somebody, and what may be asked about them. */
export interface CelAuthorizer {
  ask(question: AuthorizationQuestion): { readonly allowed: boolean; readonly reason: string };
  forServiceAccount(namespace: string, name: string): CelAuthorizer;
}

export type ResourceQuestion = Omit<Extract<AuthorizationQuestion, { kind: "resource" }>, "verb" | "kind">;

export type AuthorizationContent =
  | { readonly of: "authorizer"; readonly asks: CelAuthorizer }
  | { readonly of: "pathCheck"; readonly asks: CelAuthorizer; readonly path: string }
  | { readonly of: "groupCheck"; readonly asks: CelAuthorizer; readonly group: string }
  | { readonly of: "resourceCheck"; readonly asks: CelAuthorizer; readonly question: ResourceQuestion }
  | { readonly of: "decision"; readonly allowed: boolean; readonly reason: string };

const KINDS: ReadonlySet<string> = new Set(["authorizer", "pathCheck", "groupCheck", "resourceCheck", "decision"]);

export function isAuthorization(content: OpaqueContent): content is AuthorizationContent {
  return KINDS.has(content.of);
}
