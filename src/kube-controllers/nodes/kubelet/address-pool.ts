/** IP addresses for Pods: 10.244.0.0/16, each to one Pod at a time, lowest first. When the pool is full, the last address is shared; nothing here depends on it. */
export class AddressPool {
  readonly #byOwner = new Map<string, number>();
  readonly #taken = new Set<number>();
  #next = 2;

  /** The address of this owner: the same on every call until it is released. */
  take(owner: string): string {
    let known = this.#byOwner.get(owner);
    if (known === undefined) {
      known = this.#free();
      this.#byOwner.set(owner, known);
      this.#taken.add(known);
    }
    return textOf(known);
  }

  /** Reserves an address that was assigned before this process started. */
  reserve(owner: string, address: string): void {
    const parts = /^10\.244\.([0-9]{1,3})\.([0-9]{1,3})$/.exec(address);
    if (parts === null || this.#byOwner.has(owner)) return;
    const number = Number(parts[1]) * 256 + Number(parts[2]);
    this.#byOwner.set(owner, number);
    this.#taken.add(number);
  }

  release(owner: string): void {
    const known = this.#byOwner.get(owner);
    if (known === undefined) return;
    this.#byOwner.delete(owner);
    this.#taken.delete(known);
  }

  #free(): number {
    for (let tries = 0; tries < LAST; tries += 1) {
      const candidate = this.#next;
      this.#next = candidate >= LAST ? 2 : candidate + 1;
      if (!this.#taken.has(candidate)) return candidate;
    }
    return LAST;
  }
}

const LAST = 65_533;

function textOf(number: number): string {
  return `10.244.${number >> 8}.${number & 255}`;
}
