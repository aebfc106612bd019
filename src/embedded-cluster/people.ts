/** Who may come in: an administrator and whom the test named, each with a token of their own for HTTP. */
import { randomBytes } from "node:crypto";
import { sha256Hex } from "#base";
import { userOf, type User } from "#kube-server";
import type { ClusterUser } from "./options.ts";

export type Person = { readonly user: User; readonly token: string };

export const ADMIN = "admin";

export class People {
  readonly #byName = new Map<string, Person>();
  readonly #byToken = new Map<string, User>();

  readonly #others: (token: string) => User | undefined;
  readonly admin: Person;

  /** `others`: whose tokens somebody else knows. */
  constructor(users: readonly ClusterUser[], others: (token: string) => User | undefined = () => undefined) {
    this.#others = others;
    this.admin = this.#add({ name: ADMIN, groups: ["system:masters"] });
    for (const user of users) this.#add(user);
  }

  #add({ name, groups = [] }: ClusterUser): Person {
    const person = { user: userOf(name, name, groups), token: randomBytes(24).toString("base64url") };
    this.#byName.set(name, person);
    this.#byToken.set(sha256Hex(person.token), person.user);
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
  readonly userOfToken = (token: string): User | undefined => this.#byToken.get(sha256Hex(token)) ?? this.#others(token);
}
