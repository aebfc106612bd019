/**
 * Decides which of several claimants holds a name: the oldest, else the first by namespace and name. The order of reading does not matter: a world that is read
 * again after a restart must be the same.
 *
 * The names are those of services in the mesh (`prod/api`), and those of objects (`prod ConfigMap api-env`).
 */
export type Claimant = {
  readonly kind: "LatticeService" | "LatticeExternalService";
  /** `namespace/name` of the resource. */
  readonly key: string;
  /** Creation time; "" for a resource that is not created yet, which counts as the youngest. */
  readonly made: string;
};

function textOf({ kind, key }: Pick<Claimant, "kind" | "key">): string {
  return `${kind} ${key}`;
}

function goesBefore(a: Claimant, b: Claimant): boolean {
  if (a.made !== b.made) return b.made === "" || (a.made !== "" && a.made < b.made);
  return a.key === b.key ? a.kind > b.kind : a.key < b.key;
}

const NO_CLAIMANTS: readonly Claimant[] = [];

export class NameClaims {
  /** A list, because there is nearly always one claimant. */
  readonly #claims = new Map<string, readonly Claimant[]>();
  readonly #names = new Map<string, readonly string[]>();

  get isEmpty(): boolean {
    return this.#claims.size === 0;
  }

  /** Replaces all earlier claims of the claimant; returns the names that it lost, gained or kept. */
  claim(claimant: Claimant, names: readonly string[]): ReadonlySet<string> {
    const before = this.namesOf(claimant);
    this.claimAmong(claimant, names);
    return new Set([...before, ...names]);
  }

  /** The same, but returns all other claimants of these names. */
  claimAmong(claimant: Claimant, names: readonly string[]): readonly Claimant[] {
    const text = textOf(claimant);
    const others: Claimant[] = [];
    for (const name of this.#names.get(text) ?? []) others.push(...this.#drop(name, claimant));
    for (const name of names) {
      const rest = this.#without(name, claimant);
      this.#claims.set(name, rest.length === 0 ? [claimant] : [...rest, claimant]);
      if (rest.length > 0) others.push(...rest);
    }
    if (names.length === 0) this.#names.delete(text);
    else this.#names.set(text, names);
    return others;
  }

  namesOf(claimant: Pick<Claimant, "kind" | "key">): readonly string[] {
    return this.#names.get(textOf(claimant)) ?? [];
  }

  claimants(name: string): readonly Claimant[] {
    return this.#claims.get(name) ?? NO_CLAIMANTS;
  }

  /** The current holder. `accepts`: other claimants do not count. */
  holder(name: string, accepts?: (claimant: Claimant) => boolean): Claimant | undefined {
    const all = this.claimants(name);
    const claimants = accepts === undefined ? all : all.filter(accepts);
    let first = claimants[0];
    if (claimants.length < 2) return first;
    for (const one of claimants) if (first === undefined || goesBefore(one, first)) first = one;
    return first;
  }

  #without(name: string, { kind, key }: Claimant): readonly Claimant[] {
    const known = this.#claims.get(name);
    if (known === undefined) return NO_CLAIMANTS;
    return known.some((one) => one.kind === kind && one.key === key) ? known.filter((one) => one.kind !== kind || one.key !== key) : known;
  }

  #drop(name: string, claimant: Claimant): readonly Claimant[] {
    const left = this.#without(name, claimant);
    if (left.length === 0) this.#claims.delete(name);
    else this.#claims.set(name, left);
    return left;
  }
}
