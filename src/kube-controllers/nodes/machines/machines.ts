/**
 * The simulated nodes, as the Node objects in the cluster describe them, and whether each is running. A stopped one is like a machine
 * without power: it sends no more writes.
 *
 * A Node is identified by its uid: one that was deleted and created again under the same name is another machine.
 */
import { jsonEqual, type Node } from "#kube";
import { AddressPool } from "../address-pool.ts";
import { isSimulated, machineOf, type Machine } from "./machine.ts";
import { internalAddress } from "./node-object.ts";

/** An address of the network that no node gets. */
const GATEWAY = "172.18.0.1";

/** Called with the name of a node that appeared, changed, stopped, started or was deleted. */
export type MachineListener = (name: string) => void;

export class Machines {
  /** Nodes of the options that are to be created. */
  readonly #expected: Set<string>;
  readonly #machines = new Map<string, Machine>();
  /** By `stop`, for as long as this process runs. */
  readonly #off = new Set<string>();
  readonly #pool = new AddressPool("172.18");
  /** By uid. */
  readonly #addresses = new Map<string, string>();
  readonly #listeners = new Set<MachineListener>();

  constructor(expected: readonly string[] = []) {
    this.#expected = new Set(expected);
  }

  get names(): readonly string[] {
    return [...new Set([...this.#machines.keys(), ...this.#expected])];
  }

  get(name: string): Machine | undefined {
    return this.#machines.get(name);
  }

  /** Whether it is a simulated node that is running. */
  runs(name: string | undefined): boolean {
    if (name === undefined || this.#off.has(name)) return false;
    return this.#machines.get(name)?.stopped === false;
  }

  /** False when there is no such node. */
  stop(name: string): boolean {
    if (!this.#has(name)) return false;
    this.#off.add(name);
    this.#tell(name);
    return true;
  }

  /** Ends a `stop`; a node that its object stops stays so. */
  start(name: string): boolean {
    if (!this.#has(name)) return false;
    this.#off.delete(name);
    this.#tell(name);
    return true;
  }

  /** From 172.18.0.2 on: that of its status, otherwise a free one. Call it only when the addresses of all Nodes are known. */
  addressOf(name: string): string {
    const uid = this.#machines.get(name)?.uid;
    if (uid === undefined) return GATEWAY;
    const address = this.#addresses.get(uid) ?? this.#pool.take(uid);
    this.#addresses.set(uid, address);
    return address;
  }

  /** Nodes of the options that do not exist now were deleted. */
  expectNoMore(): void {
    this.#expected.clear();
  }

  /** A Node as it is in the cache now. Addresses of Nodes that are not simulated are not given to others. */
  observe(node: Node): void {
    const { name, uid = "" } = node.metadata;
    const address = internalAddress(node);
    if (address !== undefined && !this.#addresses.has(uid) && this.#pool.reserve(uid, address)) this.#addresses.set(uid, address);
    const before = this.#machines.get(name);
    const after = isSimulated(node) ? machineOf(node) : undefined;
    if (after === undefined) this.#machines.delete(name);
    else this.#machines.set(name, after);
    if (!jsonEqual(before ?? null, after ?? null)) this.#tell(name);
  }

  /** A Node that was deleted. */
  forget({ metadata: { name, uid = "" } }: Node): void {
    this.#pool.release(uid);
    this.#addresses.delete(uid);
    this.#off.delete(name);
    this.#expected.delete(name);
    if (this.#machines.delete(name)) this.#tell(name);
  }

  subscribe(listener: MachineListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #has(name: string): boolean {
    return this.#machines.has(name) || this.#expected.has(name);
  }

  #tell(name: string): void {
    for (const listener of this.#listeners) listener(name);
  }
}
