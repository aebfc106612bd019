/** Who may come in: an administrator and whom the test named, each with a token of their own for HTTP. */
import { randomBytes } from "node:crypto";
import { sha256Hex } from "#base";
import { userOf, type User } from "#kube-server";
import type { ClusterUser } from "./options.ts";

export type Person = { readonly user: User; readonly token: string };

export const ADMIN = "admin";

export class People {
  readonly #byName = new Map<string, Person>();
  #byToken: ReadonlyMap<string, User> | undefined;

  readonly #others: (token: string) => User | undefined;
  readonly admin: Person;

  /** `others`: whose tokens somebody else knows. */
  constructor(users: readonly ClusterUser[], others: (token: string) => User | undefined = () => undefined) {
    this.#others = others;
    this.admin = this.#add({ name: ADMIN, groups: ["system:masters"] });
    for (const user of users) this.#add(user);
  }

  #add({ name, groups = [] }: ClusterUser): Person {
    let token: string | undefined;
    const person: Person = {
      user: userOf(name, name, groups),
      // made when somebody wants it: in this process nobody shows a token, and node:crypto takes a while to load
      get token() {
        return (token ??= randomBytes(24).toString("base64url"));
      },
    };
    this.#byName.set(name, person);
    return person;
  }

  /** Somebody nobody has named before: no token, so only in this process. */
  stranger({ name, groups = [] }: ClusterUser): User {
    return this.#byName.get(name)?.user ?? userOf(name, name, groups);
  }

  find(name: string): Person | undefined {
    return this.#byName.get(name);
  }

  names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** Looked up by digest: how long it takes says nothing about how much of a token was right. */
  readonly userOfToken = (token: string): User | undefined => {
    this.#byToken ??= new Map([...this.#byName.values()].map((person) => [sha256Hex(person.token), person.user]));
    return this.#byToken.get(sha256Hex(token)) ?? this.#others(token);
  };
}
