/** The users of a cluster: an administrator and the users of the options, each with a token for HTTP. A data folder keeps their tokens. */
import { sha256Hex } from "#base";
import { userOf, type User } from "#kube-server";
import { createToken } from "./identity/index.ts";
import type { ClusterUser } from "./options.ts";

export type UserCredential = { readonly user: User; readonly token: string };

export const ADMIN = "admin";

export type UserTokens = {
  readonly others?: ((token: string) => User | undefined) | undefined;
  readonly kept?: ReadonlyMap<string, string> | undefined;
};

export class ClusterUsers {
  readonly #byName = new Map<string, UserCredential>();
  #byToken: ReadonlyMap<string, User> | undefined;

  readonly #others: (token: string) => User | undefined;
  readonly #kept: ReadonlyMap<string, string>;
  readonly admin: UserCredential;

  /** `others`: finds the users of a token file. `kept`: tokens by user name. */
  constructor(users: readonly ClusterUser[], { others = () => undefined, kept = new Map() }: UserTokens = {}) {
    this.#others = others;
    this.#kept = kept;
    this.admin = this.#add({ name: ADMIN, groups: ["system:masters"] });
    for (const user of users) this.#add(user);
  }

  #add({ name, groups = [] }: ClusterUser): UserCredential {
    let token = this.#kept.get(name);
    const credential: UserCredential = {
      user: userOf(name, name, groups),
      // created on demand: clients in this process need no token, and node:crypto takes a while to load
      get token() {
        return (token ??= createToken());
      },
    };
    this.#byName.set(name, credential);
    return credential;
  }

  /** The user of this name, or a new one: without a token, so only for clients in this process. */
  userNamed({ name, groups = [] }: ClusterUser): User {
    return this.#byName.get(name)?.user ?? userOf(name, name, groups);
  }

  find(name: string): UserCredential | undefined {
    return this.#byName.get(name);
  }

  names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** Looked up by digest, so that the duration does not reveal parts of a token. */
  readonly userOfToken = (token: string): User | undefined => {
    this.#byToken ??= new Map([...this.#byName.values()].map((credential) => [sha256Hex(credential.token), credential.user]));
    return this.#byToken.get(sha256Hex(token)) ?? this.#others(token);
  };
}
