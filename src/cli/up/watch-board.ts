/**
 * What becomes of Lattice resources, line by line as it happens: a line when a phase or a condition changes, and one when a door opens or
 * closes. Plain text, so that it reads the same in a terminal, a log and a pipe.
 */
import { MetricsRegistry, silentLogger, type Clock } from "#base";
import { loadWorld } from "#compile";
import { conditionsOf, InformerSet } from "#controller-runtime";
import { latticeEnvironments, latticeExternalServices, latticeServices } from "#crds";
import { field, fieldAt, findCondition, keyOf, keyText, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { allEdges } from "#mesh-compiler";
import { readLatticeResources } from "../live-world.ts";

export type BoardOptions = {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly print: (text: string) => void;
  readonly signal: AbortSignal;
};

const KINDS: readonly { readonly resource: Resource; readonly word: string }[] = [
  { resource: latticeEnvironments, word: "environment" },
  { resource: latticeExternalServices, word: "external" },
  { resource: latticeServices, word: "service" },
];

/** Conditions that a line shows, each under its heading. */
const SHOWN = [
  ["TemplatesResolved", "TEMPLATES"],
  ["ConfigCompiled", "CONFIG"],
  ["WorkloadsReady", "PODS"],
  ["PoliciesApplied", "POLICIES"],
] as const;
const WORDS: ReadonlyMap<string, string> = new Map([
  ["True", "yes"],
  ["False", "no"],
  ["Unknown", "-"],
]);
const LONGEST_MESSAGE = 100;

export class WatchBoard {
  readonly #options: BoardOptions;
  readonly #since: number;
  readonly #informers: InformerSet;
  readonly #lines = new Map<string, string>();
  readonly #waiting = new Set<() => void>();
  #doors: ReadonlyMap<string, string> | undefined;
  #settled = false;
  #looking: Promise<void> = Promise.resolve();
  #running: Promise<void> = Promise.resolve();

  constructor(options: BoardOptions) {
    this.#options = options;
    this.#since = options.clock.monotonic();
    const resources = KINDS.map(({ resource }) => resource);
    this.#informers = new InformerSet({ ...options, logger: silentLogger, metrics: new MetricsRegistry() }, resources);
    for (const { resource, word } of KINDS) {
      this.#informers.subscribe(resource, ({ before, after }) => this.#changed(word, before, after));
    }
  }

  /** Shows what there is, and every change until the signal fires. */
  start(): void {
    const heads = SHOWN.map(([, head]) => head.padEnd(10)).join("");
    this.#options.print(`${row("TIME", "KIND", "NAME", "PHASE")}${heads}WHAT IT SAYS\n`);
    this.#running = this.#informers.run(this.#options.signal);
  }

  /** Ends when the signal has fired. */
  async ended(): Promise<void> {
    await this.#running;
    await this.#looking;
  }

  /** Whether nothing is on its way any more: every service runs and everything else is Ready, or says that a person must act. */
  isUp(): boolean {
    const all = KINDS.flatMap(({ resource }) => this.#informers.list(resource));
    return all.length > 0 && all.every((object) => isReady(object) || isStuck(object));
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

  #changed(word: string, before: KubeObject | undefined, after: KubeObject | undefined): void {
    const object = after ?? before;
    if (object === undefined) return;
    const name = keyText(keyOf(object));
    const id = `${word} ${name}`;
    const line = after === undefined ? "gone" : stateOf(after);
    // a rollout that stops for a reason, a quota for example, changes no other column
    const state = after === undefined ? line : `${line}${rolloutReason(after)}`;
    if (after === undefined) this.#say(row(this.#time(), word, name, "gone"));
    else if (this.#lines.get(id) !== state && line !== "") {
      this.#say(`${row(this.#time(), word, name, phaseOf(after))}${line}${messageOf(after)}`);
    }
    this.#lines.set(id, state);
    this.#settled ||= this.isUp();
    if (before?.metadata.generation !== after?.metadata.generation) this.#looking = this.#looking.then(() => this.#lookAtDoors());
    for (const done of this.#waiting) done();
  }

  /** Doors that are another than before; the first look only notes how they are. */
  async #lookAtDoors(): Promise<void> {
    const { client, signal } = this.#options;
    if (signal.aborted) return;
    const resources = await readLatticeResources(client, signal);
    if (!resources.ok) return;
    const { world } = loadWorld(resources.value.value, { placeholderSecrets: true, assumeShareable: true });
    const doors = new Map(
      allEdges(world.mesh.graph).map(({ caller, callee, state }) => [`${caller} -> ${callee}`, OPEN.has(state.kind) ? "open" : "closed"]),
    );
    const known = this.#doors;
    this.#doors = doors;
    // while everything comes up, doors open all the time; the lines are for what somebody changes
    if (known === undefined || !this.#settled) return;
    for (const [door, state] of doors) if (known.get(door) !== state) this.#say(row(this.#time(), "door", door, state));
  }

  #say(text: string): void {
    this.#options.print(`${text.trimEnd()}\n`);
  }

  #time(): string {
    return `${((this.#options.clock.monotonic() - this.#since) / 1_000).toFixed(1)}s`;
  }
}

const OPEN: ReadonlySet<string> = new Set(["agreed", "external", "managed"]);

function row(time: string, kind: string, name: string, phase: string): string {
  return `  ${time.padStart(7)}  ${kind.padEnd(12)}${name.padEnd(20)} ${phase.padEnd(10)}`;
}

function phaseOf(object: KubeObject): string {
  const phase = fieldAt(object, "status", "phase");
  return typeof phase === "string" ? phase : "";
}

/** Empty as long as the operator has said nothing. */
function stateOf(object: KubeObject): string {
  if (phaseOf(object) === "") return "";
  const conditions = conditionsOf(field(object, "status"));
  const words = SHOWN.map(([type]) => WORDS.get(findCondition(conditions, type)?.status ?? "") ?? "");
  return words.map((word) => word.padEnd(10)).join("");
}

function rolloutReason(object: KubeObject): string {
  return findCondition(conditionsOf(field(object, "status")), "WorkloadsReady")?.reason ?? "";
}

function messageOf(object: KubeObject): string {
  const message = fieldAt(object, "status", "message");
  const text = typeof message === "string" ? (message.split("\n")[0] ?? "") : "";
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE - 3)}...` : text;
}

function isStuck(object: KubeObject): boolean {
  const ready = findCondition(conditionsOf(field(object, "status")), "Ready");
  return phaseOf(object) === "Failed" || ready?.reason === "PatchModeNotBuilt";
}

function isReady(object: KubeObject): boolean {
  if (phaseOf(object) !== "Ready") return false;
  const conditions = conditionsOf(field(object, "status"));
  return findCondition(conditions, "WorkloadsReady")?.status !== "False" && findCondition(conditions, "Ready")?.status === "True";
}
