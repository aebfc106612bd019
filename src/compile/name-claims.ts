/**
 * Who has a name that several want: the oldest of them, else the first by where it is written. Never who was read first: a world that is read
 * again after a restart must be the same world.
 *
 * The names are those of services in the mesh (`prod/api`), and those of objects (`prod ConfigMap api-env`).
 */
export type Claimant = {
  readonly kind: "LatticeService" | "LatticeExternalService";
  /** Where it is written. */
  readonly key: string;
  /** When it was made; "" for what is only about to be, which is the youngest. */
  readonly made: string;
};

function textOf({ kind, key }: Pick<Claimant, "kind" | "key">): string {
  return `${kind} ${key}`;
}

function goesBefore(a: Claimant, b: Claimant): boolean {
  if (a.made !== b.made) return b.made === "" || (a.made !== "" && a.made < b.made);
  return a.key === b.key ? a.kind > b.kind : a.key < b.key;
}

export class NameClaims {
  readonly #claims = new Map<string, Map<string, Claimant>>();
  readonly #names = new Map<string, readonly string[]>();

  /** Replaces all that it claimed before; gives the names that it lost or gained or kept. */
  claim(claimant: Claimant, names: readonly string[]): ReadonlySet<string> {
    const text = textOf(claimant);
    const before = this.#names.get(text) ?? [];
    for (const name of before) this.#drop(name, text);
    for (const name of names) this.#add(name, text, claimant);
    if (names.length === 0) this.#names.delete(text);
    else this.#names.set(text, names);
    return new Set([...before, ...names]);
  }

  namesOf(claimant: Pick<Claimant, "kind" | "key">): readonly string[] {
    return this.#names.get(textOf(claimant)) ?? [];
  }

  claimants(name: string): readonly Claimant[] {
    return [...(this.#claims.get(name)?.values() ?? [])];
  }

  /** Who has it. */
  holder(name: string): Claimant | undefined {
    const all = this.claimants(name);
    return all.reduce<Claimant | undefined>((first, one) => (first === undefined || goesBefore(one, first) ? one : first), undefined);
  }

  #add(name: string, text: string, claimant: Claimant): void {
    const known = this.#claims.get(name);
    if (known === undefined) this.#claims.set(name, new Map([[text, claimant]]));
    else known.set(text, claimant);
  }

  #drop(name: string, text: string): void {
    const known = this.#claims.get(name);
    known?.delete(text);
    if (known?.size === 0) this.#claims.delete(name);
  }
}
