/** Ports of authentication and authorization. Both are synchronous: keys and rules are in this server. */
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

/** The user of a valid token, and the audiences for which it is valid. */
export type TokenIdentity = { readonly user: User; readonly audiences: readonly string[] };

/** The error is the one reported by a TokenReview; it never contains the token. */
export type TokenAuthenticator = (token: string, audiences: readonly string[]) => Result<TokenIdentity, string>;

export type ObjectRef = { readonly name: string; readonly uid: string };

/** The token is valid only while these objects exist. The node of a pod is a claim only: it is not checked. */
export type BoundObjects = {
  readonly pod?: KubeObject | undefined;
  readonly secret?: KubeObject | undefined;
  readonly node?: ObjectRef | undefined;
};

export type NewClaims = {
  readonly account: KubeObject;
  readonly bound: BoundObjects;
  readonly audiences: readonly string[];
  readonly seconds: number;
  /** The expiry that was reported to the client; the token itself is valid longer. */
  readonly warnAfter: number | undefined;
};

export type AccountTokens = {
  readonly issue: (claims: NewClaims, id: string) => string;
  /** `undefined`: not a service account token; another authenticator may accept it. */
  readonly authenticate: (token: string, audiences: readonly string[]) => Result<TokenIdentity, string> | undefined;
  readonly publicKeys: () => readonly PublicJwk[];
};

export type Authentication = {
  /** Returns the reason for a rejection, for a TokenReview. */
  readonly ofToken: TokenAuthenticator;
  /** For a request to this server: `undefined` means 401. */
  readonly userOf: (token: string) => User | undefined;
  readonly accounts: AccountTokens;
};
