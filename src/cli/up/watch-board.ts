/**
 * Prints changes of Lattice resources, a line for each: when the phase or the sentence of a resource changes, and when a flow opens or
 * closes. A rollout has one line when it begins and one when it ends, and none for each pod.
 */
import { MetricsRegistry, silentLogger, type Clock } from "#base";
import { loadWorld } from "#compile";
import { InformerSet } from "#controller-runtime";
import { keyOf, keyText, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { allEdges } from "#mesh-compiler";
import { readLatticeResources } from "../live-world.ts";
import { STATE_KINDS, stateOf, type StateKind } from "../resource-state.ts";
import { coloured, colourOfPhase, type StyledText } from "../styled-text.ts";
import { BoardTable } from "./board-table.ts";

export type BoardOptions = {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly print: (text: StyledText) => void;
  readonly signal: AbortSignal;
  /** Width of the terminal; undefined: lines are not wrapped. */
  readonly columns?: () => number | undefined;
  /** For rows of others in the same table, which has a header already. */
  readonly table?: BoardTable;
  /** Which resources to show; absent: all. */
  readonly shows?: (kind: StateKind, object: KubeObject) => boolean;
};

export class WatchBoard {
  readonly #options: BoardOptions;
  readonly #table: BoardTable;
  readonly #informers: InformerSet;
  readonly #lines = new Map<string, string>();
  readonly #waiting = new Set<() => void>();
  #flows: ReadonlyMap<string, string> | undefined;
  #settled = false;
  /** All resources have been read once. */
  #synced = false;
  #looking: Promise<void> = Promise.resolve();
  #running: Promise<void> = Promise.resolve();

  constructor(options: BoardOptions) {
    this.#options = options;
    this.#table = options.table ?? new BoardTable(options);
    const resources = STATE_KINDS.map(({ resource }) => resource);
    this.#informers = new InformerSet({ ...options, logger: silentLogger, metrics: new MetricsRegistry() }, resources);
    for (const { resource, kind } of STATE_KINDS) {
      this.#informers.subscribe(resource, ({ before, after }) => this.#changed(kind, before, after));
    }
  }

  /** Shows the current state, and every change until the signal fires. */
  start(): void {
    const { signal, table } = this.#options;
    if (table === undefined) this.#table.printHeader();
    this.#running = this.#informers.run(signal);
    void this.#sync();
  }

  async #sync(): Promise<void> {
    this.#synced = await this.#informers.synced(this.#options.signal);
    this.#wake();
  }

  /** Ends when the signal has fired. */
  async ended(): Promise<void> {
    await this.#running;
    await this.#looking;
  }

  /** Whether every resource is Ready with all its pods, or will not become Ready without a change. */
  isUp(): boolean {
    if (!this.#synced) return false;
    const all = STATE_KINDS.flatMap(({ resource, kind }) => this.#informers.list(resource).map((object) => stateOf(kind, object)));
    return all.length > 0 && all.every(({ ready, rolledOut, stuck }) => (ready && rolledOut) || stuck);
  }

  /** Resolves after the next change of anything. */
  nextChange(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        this.#options.signal.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      this.#options.signal.addEventListener("abort", done, { once: true });
    });
  }

  #changed(kind: StateKind, before: KubeObject | undefined, after: KubeObject | undefined): void {
    const object = after ?? before;
    if (object === undefined) return;
    if (this.#options.shows?.(kind, object) !== false) this.#show(kind, keyText(keyOf(object)), after);
    this.#settled ||= this.isUp();
    if (before?.metadata.generation !== after?.metadata.generation) this.#looking = this.#looking.then(() => this.#readFlows());
    this.#wake();
  }

  #wake(): void {
    for (const done of this.#waiting) done();
  }

  #show(kind: StateKind, name: string, object: KubeObject | undefined): void {
    const id = `${kind} ${name}`;
    const { phase, sentence, stale, progressing } = object === undefined ? DELETED : stateOf(kind, object);
    // the operator has not reported on this version yet
    if (phase === "" || stale) return;
    const line = `${phase} ${progressing ? "progressing" : sentence}`;
    if (this.#lines.get(id) !== line) this.#table.printRow(kind, name, coloured(phase, colourOfPhase(phase)), sentence);
    if (object === undefined) this.#lines.delete(id);
    else this.#lines.set(id, line);
  }

  /** Flows that opened or closed; the first time they are only recorded. */
  async #readFlows(): Promise<void> {
    const { client, signal } = this.#options;
    if (signal.aborted) return;
    const resources = await readLatticeResources(client, signal);
    if (!resources.ok) return;
    const { world } = loadWorld(resources.value.value, { placeholderSecrets: true, assumeShareable: true });
    const flows = new Map(
      allEdges(world.mesh.graph).map(({ caller, callee, state }) => [`${caller} -> ${callee}`, OPEN.has(state.kind) ? "open" : "closed"]),
    );
    const known = this.#flows;
    this.#flows = flows;
    // many flows open during the start; only later changes are shown
    if (known === undefined || !this.#settled) return;
    for (const [flow, state] of flows) if (known.get(flow) !== state) this.#table.printRow("flow", flow, state);
  }
}

const DELETED = { phase: "deleted", sentence: "", stale: false, progressing: false };

const OPEN: ReadonlySet<string> = new Set(["agreed", "external", "managed"]);
