/**
 * IPv4 addresses of a network with 65,536 of them, each for one owner at a time, lowest first. When the pool is full, the last address is
 * shared; nothing here depends on it.
 */
export class AddressPool {
  /** The first two numbers: "10.244". */
  readonly #prefix: string;
  readonly #byOwner = new Map<string, number>();
  readonly #owners = new Map<number, string>();
  #next = 2;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The address of this owner: the same on every call until it is released. */
  take(owner: string): string {
    let known = this.#byOwner.get(owner);
    if (known === undefined) this.#give(owner, (known = this.#free()));
    return this.#textOf(known);
  }

  /** Reserves an address that was assigned before this process started. False: another owner has it. */
  reserve(owner: string, address: string): boolean {
    const number = this.#numberOf(address);
    if (number === undefined || this.#byOwner.has(owner)) return true;
    if (this.#owners.has(number)) return false;
    this.#give(owner, number);
    return true;
  }

  release(owner: string): void {
    const known = this.#byOwner.get(owner);
    if (known === undefined) return;
    this.#byOwner.delete(owner);
    if (this.#owners.get(known) === owner) this.#owners.delete(known);
  }

  #give(owner: string, number: number): void {
    this.#byOwner.set(owner, number);
    this.#owners.set(number, owner);
  }

  #free(): number {
    for (let tries = 0; tries < LAST; tries += 1) {
      const candidate = this.#next;
      this.#next = candidate >= LAST ? 2 : candidate + 1;
      if (!this.#owners.has(candidate)) return candidate;
    }
    return LAST;
  }

  /** Undefined: not of this network. */
  #numberOf(address: string): number | undefined {
    const parts = /^([0-9]{1,3}\.[0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})$/.exec(address);
    return parts?.[1] === this.#prefix ? Number(parts[2]) * 256 + Number(parts[3]) : undefined;
  }

  #textOf(number: number): string {
    return `${this.#prefix}.${number >> 8}.${number & 255}`;
  }
}

const LAST = 65_533;
