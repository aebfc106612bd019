/** Who somebody is and what he may do, as questions and their answers. Always answered at once: keys and rules are in this server. */
import type { Result } from "#base";
import type { KubeObject } from "#kube";
import type { PublicJwk } from "#pki";
import type { User } from "./request.ts";

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

export type ObjectRef = { readonly name: string; readonly uid: string };

/** The objects with which the token lives and dies. A pod may bring its node along, which is only told. */
export type Bound = {
  readonly pod?: KubeObject | undefined;
  readonly secret?: KubeObject | undefined;
  readonly node?: ObjectRef | undefined;
};

export type NewClaims = {
  readonly account: KubeObject;
  readonly bound: Bound;
  readonly audiences: readonly string[];
  readonly seconds: number;
  /** The client was told to come back by then, though the token lives on. */
  readonly warnAfter: number | undefined;
};

export type AccountTokens = {
  readonly issue: (claims: NewClaims, id: string) => string;
  /** `undefined`: the token is none of these, and somebody else may know it. */
  readonly authenticate: (token: string, audiences: readonly string[]) => Result<Identity, string> | undefined;
  readonly publicKeys: () => readonly PublicJwk[];
};

export type Authentication = {
  /** With the reason of a refusal, for a TokenReview. */
  readonly ofToken: TokenAuthenticator;
  /** For a request to this server: `undefined` is a 401, whatever the reason. */
  readonly userOf: (token: string) => User | undefined;
  readonly accounts: AccountTokens;
};
