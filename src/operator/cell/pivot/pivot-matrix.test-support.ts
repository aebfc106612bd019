/**
 * One run of a pivot, or of its way back, that is disturbed at one point: a process or an API server is killed at a write, the connection breaks at a message,
 * or the pivot is not wanted any more. Then whatever was killed starts again, until the move is done. After every write on either server, and at the end,
 * it is checked that there is one owner, by the objects and by what the controllers of both sides would decide from them.
 */
import { expectOk, ok, seededRandom, sleep, systemClock } from "#base";
import type { CacheReader } from "#controller-runtime";
import { configMaps, serviceAccounts, type KubeObject, type Resource } from "#kube";
import { createKubeClient, type KubeClient } from "#kube-client";
import { tunnelTransport, type PivotOrder } from "#link";
import { JumpClock } from "../../../../test/builders/jump-clock.ts";
import { MortalProcess, type Kill } from "../../../../test/builders/mortal-process.ts";
import { observeInvariants, type InvariantsObserver } from "../../../../test/builders/move-world.ts";
import { targetOf } from "../../../../test/builders/tunnelled-child.ts";
import { nodeReport } from "../../agent/node-report.ts";
import { preparePivot } from "../../agent/prepare-pivot.ts";
import { OwnershipChecks, type ChildOwnershipDecision } from "./matrix-checks.test-support.ts";
import { MatrixLink } from "./matrix-link.test-support.ts";
import { describePoint, type Direction, type PivotCounts, type PivotPoint } from "./matrix-points.test-support.ts";
import { PivotRunner } from "./pivot-runner.ts";
import { CAPI, isDone, PivotWorld } from "./pivot-world.test-support.ts";

type Request = Direction | "abort" | "release";

/** What a mutant replaces. */
export type MatrixParts = {
  readonly PivotRunner: typeof PivotRunner;
  readonly preparePivot: typeof preparePivot;
  readonly childOwnership: ChildOwnershipDecision;
};

export type MatrixOptions = {
  readonly parts?: Partial<MatrixParts>;
  /** Where the servers store their data; absent: they cannot be killed. */
  readonly folder?: string;
  /** How often a run is looked at before it counts as one that does not end. */
  readonly mostLooks?: number;
};

const LEASE_MS = 15_000;
const JUMP_MS = 500;
/** While no message and no write comes, a delay before a repeated request is waited for. Far shorter than the lease, which is renewed meanwhile. */
const IDLE_JUMP_MS = 100;
const LOOK_MS = 2;
const MOST_LOOKS = 15_000;
const MOST_LIVES = 5;
const HOME = "lattice-system";
/** While these are shown, no move is written: a lease may have to run out. */
const BEFORE_CLAIM = /^(prepare|copy-cluster|wait)/;
const cache = {
  get: (resource: Resource) => (resource === configMaps ? { data: { cluster: "prod" } } : undefined),
} as unknown as CacheReader;

/** What is asked for after the disturbance, by the end of its kind. */
const NEXT_REQUESTS: readonly (readonly [string, Request])[] = [
  ["deleted", "to-parent"],
  ["aborted", "abort"],
  ["released", "release"],
];

export class PivotMatrix {
  readonly world: PivotWorld;
  readonly #parts: MatrixParts;
  readonly #mostLooks: number;
  readonly #clock = new JumpClock();
  readonly #checks: OwnershipChecks;
  readonly #observer: InvariantsObserver;
  readonly #link: MatrixLink;
  readonly #kinds = new Map<string, number>();
  #messages = 0;
  #agentKills = 0;
  #agent = new MortalProcess(undefined);
  #runner: PivotRunner | undefined;
  #onMessage: (count: number) => void = () => {};
  #restarting: Promise<void> | undefined;
  #isCut = false;

  private constructor(world: PivotWorld, target: Awaited<ReturnType<typeof targetOf>>, checks: OwnershipChecks, options: MatrixOptions) {
    this.world = world;
    this.#parts = { PivotRunner, preparePivot, childOwnership: checks.decide, ...options.parts };
    this.#mostLooks = options.mostLooks ?? MOST_LOOKS;
    this.#checks = checks;
    const sides = {
      get source() {
        return world.parent;
      },
      get target() {
        return world.child;
      },
    };
    this.#observer = observeInvariants(sides, checks.names, { name: "prod", namespace: CAPI }, () =>
      checks.afterWrite({ epochs: [0, this.#link.reportedEpoch], views: [undefined, this.#runner?.view("prod")] }),
    );
    this.#link = new MatrixLink({
      clock: this.#clock,
      target,
      onMessage: (kind) => this.#count(kind),
      onPivot: (order) => this.#prepare(order),
      report: () => Promise.resolve(nodeReport([], "v1.36.3", { ownership: world.ownership("child") })),
    });
  }

  static async open(options: MatrixOptions = {}): Promise<PivotMatrix> {
    const world = await PivotWorld.open({ workers: "fewest", ...(options.folder === undefined ? {} : { folder: options.folder }) });
    await world.child.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } });
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "lattice-cluster-api", namespace: HOME } };
    expectOk(await world.child.client.create<KubeObject>(serviceAccounts as Resource, account));
    const checks = await OwnershipChecks.open(world, options.parts?.childOwnership);
    return new PivotMatrix(world, await targetOf(world.child), checks, options);
  }

  async close(): Promise<void> {
    await this.#link.close();
    await this.world.close();
  }

  get wrong(): string[] {
    return this.#observer.wrong;
  }

  /** How many writes were checked. */
  get checks(): number {
    return this.#observer.checks();
  }

  /** The kinds of messages that were counted, such as "cell: pivotCommand", and how many there were. */
  get kinds(): ReadonlyMap<string, number> {
    return this.#kinds;
  }

  /** An undisturbed run. */
  async count(direction: Direction): Promise<PivotCounts> {
    const cell = new MortalProcess(undefined);
    await this.#reset();
    await this.#finish([direction], cell);
    await this.#compare([direction], `${direction}: undisturbed`);
    return { cellWrites: cell.writes, agentWrites: this.#agent.writes, messages: this.#messages };
  }

  /** An undisturbed run first, where the objects are not at the side that the move begins at. False: the point was not reached. */
  async disturb(point: PivotPoint): Promise<boolean> {
    const { direction, kind, when, index } = point;
    const atChild = this.world.ownership("child").state === "owner";
    if (atChild !== (direction === "to-parent")) await this.count(atChild ? "to-parent" : "to-child");
    const kill = { write: index, when: when === "before" ? ("before" as const) : ("after" as const) };
    await this.#reset(kind === "agent killed" ? kill : undefined);
    const isKilled = kind === "cell killed" || kind === "both killed" || kind.startsWith("killed and");
    let isReached = false;
    const requests: Request[] = [direction];
    const then = NEXT_REQUESTS.find(([end]) => kind.endsWith(end))?.[1];
    const afterWrite = (write: number): "answered" | "lost" => {
      if (write !== index) return "answered";
      if (then !== undefined && !isKilled) {
        isReached = true;
        requests.push(then);
      }
      if (!kind.includes("server")) return "answered";
      isReached = true;
      this.#restart(kind);
      return "lost";
    };
    const cell = new MortalProcess(isKilled ? kill : undefined, afterWrite);
    if (when === "at") {
      this.#onMessage = (count) => {
        if (count !== index) return;
        isReached = true;
        this.#cut();
      };
    }
    const onKill = () => {
      if (kind === "both killed") this.#cut();
      if (then !== undefined) requests.push(then);
    };
    await this.#finish(requests, cell, { onKill, returnsAtOnce: index % 2 === 0 });
    await this.#restarting;
    await this.#compare(requests, describePoint(point));
    return isReached || cell.dead || this.#agentKills > 0;
  }

  async #reset(kill?: Kill): Promise<void> {
    this.#restarting = undefined;
    this.#reconnect();
    await this.#checks.reset();
    this.#messages = 0;
    this.#agentKills = 0;
    this.#agent = new MortalProcess(kill);
    this.#onMessage = () => {};
  }

  #restart(kind: string): void {
    const sides = kind.startsWith("both")
      ? (["parent", "child"] as const)
      : kind.startsWith("parent")
        ? (["parent"] as const)
        : ["child" as const];
    this.#restarting = (async () => {
      for (const side of sides) {
        await this.world.restart(side);
        this.#observer.attach(this.world[side]);
      }
    })();
  }

  /** The last one of `requests` is what the cluster controller asks for. */
  async #finish(requests: readonly Request[], first: MortalProcess, { onKill = () => {}, returnsAtOnce = false } = {}): Promise<void> {
    let cell = first;
    for (let life = 0; life < MOST_LIVES; life += 1) {
      const process = cell;
      const runner = this.world.runner(
        {
          client: process.client(this.world.clientOf("parent")),
          childClient: () => process.client(this.#childClient()),
          link: this.#link.ofCell,
          clock: this.#clock,
          leaseMs: LEASE_MS,
          retry: { initialMs: 0, maxMs: 0, factor: 1 },
        },
        this.#parts.PivotRunner,
      );
      this.#runner = runner;
      const isFinished = await this.#drive(runner, { requests, cell, returnsAtOnce });
      if (!isFinished && cell === first) onKill();
      await runner.close();
      this.#runner = undefined;
      if (isFinished) return;
      cell = new MortalProcess(undefined);
      this.#link.restartCell();
      this.#reconnect();
      await this.#checks.editChild();
    }
    this.wrong.push(`the move is not done by ${MOST_LIVES} processes`);
  }

  /** As the cluster controller does, it asks again whenever an attempt has ended. False: the process is dead. */
  async #drive(runner: PivotRunner, { requests, cell, returnsAtOnce }: Drive): Promise<boolean> {
    const { signal } = new AbortController();
    let asked = requests.at(-1);
    let progress = 0;
    await this.#ask(runner, asked);
    for (let look = 0; look < this.#mostLooks && !cell.dead; look += 1) {
      const view = runner.view("prod");
      if (view !== undefined && asked === requests.at(-1) && view.direction === directionOf(asked) && isDone(view)) {
        // a move that ran when the cluster was released has ended without it
        if (asked === "release") await this.#ask(runner, asked);
        if (runner.view("prod")?.state === "done") return true;
      }
      const isWaiting = view?.state === "waiting";
      if (this.#isCut && (isWaiting || returnsAtOnce)) this.#reconnect();
      if (isWaiting || asked !== requests.at(-1)) await this.#ask(runner, (asked = requests.at(-1)));
      if (isWaiting || !this.#link.isConnected || BEFORE_CLAIM.test(view?.step ?? "wait")) this.#clock.jump(JUMP_MS);
      else if (progress === (progress = this.#messages + this.checks)) this.#clock.jump(IDLE_JUMP_MS);
      this.#link.report();
      await sleep(systemClock, LOOK_MS, signal);
    }
    if (!cell.dead) this.wrong.push(`the move does not end: ${JSON.stringify(runner.view("prod"))}`);
    return !cell.dead;
  }

  async #ask(runner: PivotRunner, request: Request | undefined): Promise<void> {
    await this.#restarting;
    if (request === "to-parent") await this.world.writeKubeconfig(this.world.parent, "of the parent");
    const cluster = await this.world.cluster();
    if (request === "to-child") runner.start(cluster);
    else if (request === "abort") runner.abort(cluster);
    else runner.unpivot(request === "release" ? { ...cluster, spec: { ...cluster.spec, deletion: { unpivot: false } } } : cluster);
  }

  #cut(): void {
    this.#isCut = true;
    this.#link.cut();
  }

  #reconnect(): void {
    if (this.#agent.dead) this.#agent = new MortalProcess(undefined);
    this.#isCut = false;
    this.#link.restore();
  }

  async #prepare(order: PivotOrder): ReturnType<typeof preparePivot> {
    const agent = this.#agent;
    const prepared = await this.#parts.preparePivot(order, {
      client: agent.client(this.world.clientOf("child")),
      cache,
      clock: this.#clock,
      signal: new AbortController().signal,
      home: HOME,
      apiServer: ok({ url: "https://10.96.0.1:443", ca: "CA" }),
    });
    if (agent.dead) {
      this.#agentKills += 1;
      this.#cut();
      await this.#link.restartAgent();
    }
    return prepared;
  }

  #count(kind: string): void {
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    this.#messages += 1;
    this.#onMessage(this.#messages);
  }

  #childClient(): KubeClient {
    const transport = tunnelTransport("prod", this.#link.openTunnel);
    return createKubeClient({ transport, clock: this.#clock, random: seededRandom(2) });
  }

  async #compare(requests: readonly Request[], what: string): Promise<void> {
    const wrong = await this.#checks.atEnd(requests.at(-1) ?? "abort");
    const found = [...this.wrong.splice(0), ...wrong];
    this.wrong.push(...found.map((text) => `${what}: ${text}`));
  }
}

/** As the runner's view has it. */
const directionOf = (request: Request | undefined) => (request === "release" ? "to-parent" : request);

type Drive = {
  readonly requests: readonly Request[];
  readonly cell: MortalProcess;
  /** A lost connection is back before the attempt has ended. */
  readonly returnsAtOnce: boolean;
};
