/** The simulated nodes and whether each is running. Stopping one is like a power failure: it sends no more writes. */
import type { SimulatedNode } from "../options.ts";

export class Machines {
  readonly #nodes: ReadonlyMap<string, SimulatedNode>;
  readonly #off = new Set<string>();
  readonly #listeners = new Set<() => void>();

  constructor(nodes: readonly SimulatedNode[]) {
    this.#nodes = new Map(nodes.map((node) => [node.name, node]));
  }

  get all(): readonly SimulatedNode[] {
    return [...this.#nodes.values()];
  }

  get(name: string): SimulatedNode | undefined {
    return this.#nodes.get(name);
  }

  /** Whether it is a simulated node that is running. */
  runs(name: string | undefined): boolean {
    return name !== undefined && this.#nodes.has(name) && !this.#off.has(name);
  }

  /** False when there is no such node. */
  stop(name: string): boolean {
    if (!this.#nodes.has(name)) return false;
    this.#off.add(name);
    this.#tell();
    return true;
  }

  start(name: string): boolean {
    if (!this.#nodes.has(name)) return false;
    this.#off.delete(name);
    this.#tell();
    return true;
  }

  /** 172.18.0.2 for the first, and so on. */
  addressOf(name: string): string {
    const index = [...this.#nodes.keys()].indexOf(name) + 2;
    return `172.18.${index >> 8}.${index & 255}`;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
