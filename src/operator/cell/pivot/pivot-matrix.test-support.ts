/**
 * One run of a pivot, or of its way back, that is disturbed at one point: the cell's process is killed at a write, the agent's at one of its own, the
 * connection breaks at a message, or both sides die at it. Then whatever was killed starts again, until the move is done.
 */
import { err, expectOk, ok, seededRandom, sleep, systemClock } from "#base";
import type { CacheReader } from "#controller-runtime";
import type { PivotView } from "#controllers";
import { configMaps, serviceAccounts, type KubeObject, type Resource } from "#kube";
import { createKubeClient, type KubeClient } from "#kube-client";
import { tunnelTransport, type OpenTunnel, type PivotOrder, type TunnelFrames } from "#link";
import { JumpClock } from "../../../../test/builders/jump-clock.ts";
import { MortalProcess, type Kill } from "../../../../test/builders/mortal-process.ts";
import { comparable, contentsOf, danglingOwners, observeInvariants } from "../../../../test/builders/move-world.ts";
import { preparePivot } from "../../agent/prepare-pivot.ts";
import type { PivotLink } from "./pivot-context.ts";
import type { PivotRunner } from "./pivot-runner.ts";
import { CAPI, isDone, PivotWorld } from "./pivot-world.test-support.ts";

export type Direction = Exclude<PivotView["direction"], "abort">;
export type Disturbance =
  | { readonly kind: "cell killed" | "agent killed"; readonly when: "before" | "after" }
  /** Both: at a write of the cell, which has its effect. */
  | { readonly kind: "both killed"; readonly when: "after" }
  | { readonly kind: "connection cut"; readonly when: "at" };
export type PivotPoint = Disturbance & { readonly direction: Direction; readonly index: number };
export type PivotCounts = { readonly cellWrites: number; readonly agentWrites: number; readonly messages: number };

export const describePoint = ({ direction, kind, when, index }: PivotPoint) => `${direction}: ${kind} ${when} ${index}`;

export function pointsOf(direction: Direction, { cellWrites, agentWrites, messages }: PivotCounts): readonly PivotPoint[] {
  const all = (count: number, disturbance: Disturbance): readonly PivotPoint[] =>
    Array.from({ length: count }, (_, at) => ({ ...disturbance, direction, index: at + 1 }));
  return [
    ...all(cellWrites, { kind: "cell killed", when: "before" }),
    ...all(cellWrites, { kind: "cell killed", when: "after" }),
    ...all(agentWrites, { kind: "agent killed", when: "before" }),
    ...all(agentWrites, { kind: "agent killed", when: "after" }),
    ...all(messages, { kind: "connection cut", when: "at" }),
    ...all(cellWrites, { kind: "both killed", when: "after" }),
  ];
}

const LEASE_MS = 15_000;
const JUMP_MS = 500;
const LOOK_MS = 2;
const MOST_LOOKS = 15_000;
const MOST_LIVES = 5;
const HOME = "lattice-system";
/** While these are shown, no move is written: a lease may have to run out. */
const BEFORE_CLAIM = /^(prepare|copy-cluster|wait)/;
const cache = {
  get: (resource: Resource) => (resource === configMaps ? { data: { cluster: "prod" } } : undefined),
} as unknown as CacheReader;

export class PivotMatrix {
  readonly world: PivotWorld;
  readonly wrong: string[];
  readonly #expected: ReadonlyMap<string, unknown>;
  readonly #clock = new JumpClock();
  #messages = 0;
  #agentKills = 0;
  #agent = new MortalProcess(undefined);
  #onMessage: (count: number) => void = () => {};

  private constructor(world: PivotWorld, expected: ReadonlyMap<string, unknown>, wrong: string[]) {
    this.world = world;
    this.#expected = expected;
    this.wrong = wrong;
  }

  static async open(): Promise<PivotMatrix> {
    const world = await PivotWorld.open();
    await world.child.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } });
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "lattice-cluster-api", namespace: HOME } };
    expectOk(await world.child.client.create<KubeObject>(serviceAccounts as Resource, account));
    const expected = await movedContents(world.parent.client);
    const sides = { source: world.parent, target: world.child };
    const { wrong } = observeInvariants(sides, expected.keys(), { name: "prod", namespace: CAPI });
    return new PivotMatrix(world, expected, wrong);
  }

  /** An undisturbed run. */
  async count(direction: Direction): Promise<PivotCounts> {
    const cell = new MortalProcess(undefined);
    this.#reset();
    await this.#finish(direction, cell);
    await this.#compare(direction, `${direction}: undisturbed`);
    return { cellWrites: cell.writes, agentWrites: this.#agent.writes, messages: this.#messages };
  }

  /** False: the point was not reached. */
  async disturb(point: PivotPoint): Promise<boolean> {
    const { direction, kind, when, index } = point;
    const kill = { write: index, when: when === "before" ? ("before" as const) : ("after" as const) };
    const cell = new MortalProcess(kind === "cell killed" || kind === "both killed" ? kill : undefined);
    this.#reset(kind === "agent killed" ? kill : undefined);
    let isReached = false;
    if (when === "at") {
      this.#onMessage = (count) => {
        if (count !== index) return;
        isReached = true;
        this.world.setConnected(false);
      };
    }
    await this.#finish(direction, cell, { isAgentKilled: kind === "both killed", returnsAtOnce: index % 2 === 0 });
    await this.#compare(direction, describePoint(point));
    return isReached || cell.dead || this.#agentKills > 0;
  }

  #reset(kill?: Kill): void {
    this.#messages = 0;
    this.#agentKills = 0;
    this.#agent = new MortalProcess(kill);
    this.#onMessage = () => {};
  }

  async #finish(direction: Direction, first: MortalProcess, { isAgentKilled = false, returnsAtOnce = false } = {}): Promise<void> {
    let cell = first;
    for (let life = 0; life < MOST_LIVES; life += 1) {
      const runner = this.world.runner({
        client: cell.client(this.world.parent.client),
        childClient: () => cell.client(this.#childClient()),
        link: this.#link(cell),
        clock: this.#clock,
        leaseMs: LEASE_MS,
        retry: { initialMs: 0, maxMs: 0, factor: 1 },
      });
      const isFinished = await this.#drive(runner, { direction, cell, returnsAtOnce });
      if (!isFinished && isAgentKilled) this.world.setConnected(false);
      await runner.close();
      if (isFinished) return;
      cell = new MortalProcess(undefined);
      this.#reconnect();
    }
    this.wrong.push(`the move is not done by ${MOST_LIVES} processes`);
  }

  /** As the cluster controller does, it asks again whenever an attempt has ended. False: the process is dead. */
  async #drive(runner: PivotRunner, { direction, cell, returnsAtOnce }: Drive): Promise<boolean> {
    const { signal } = new AbortController();
    await this.#ask(runner, direction);
    for (let look = 0; look < MOST_LOOKS && !cell.dead; look += 1) {
      const view = runner.view("prod");
      if (view !== undefined && isDone(view)) return true;
      const isWaiting = view?.state === "waiting";
      const isCut = !this.world.agent.connected;
      if (isCut && (isWaiting || returnsAtOnce)) this.#reconnect();
      if (isWaiting) await this.#ask(runner, direction);
      if (isWaiting || isCut || BEFORE_CLAIM.test(view?.step ?? "wait")) this.#clock.jump(JUMP_MS);
      await sleep(systemClock, LOOK_MS, signal);
    }
    if (!cell.dead) this.wrong.push(`the move does not end: ${JSON.stringify(runner.view("prod"))}`);
    return false;
  }

  async #ask(runner: PivotRunner, direction: Direction): Promise<void> {
    if (direction === "to-parent") await this.world.writeKubeconfig(this.world.parent, "of the parent");
    const cluster = await this.world.cluster();
    if (direction === "to-child") runner.start(cluster);
    else runner.unpivot(cluster);
  }

  #reconnect(): void {
    if (this.#agent.dead) this.#agent = new MortalProcess(undefined);
    this.world.setConnected(true);
  }

  #link(cell: MortalProcess): PivotLink {
    const lost = err({ kind: "not-connected" as const, message: "prod is not connected" });
    return {
      agents: () => new Map([["prod", this.world.agent]]),
      send: async (_cluster, order) => {
        this.#count();
        if (cell.dead || !this.world.agent.connected || order.kind !== "pivot") return lost;
        const prepared = await this.#prepare(order);
        this.#count();
        if (cell.dead || !this.world.agent.connected) return lost;
        return prepared.ok ? ok({ effects: [...prepared.value] }) : err({ kind: "failed", message: prepared.error });
      },
    };
  }

  async #prepare(order: PivotOrder): ReturnType<typeof preparePivot> {
    const agent = this.#agent;
    const prepared = await preparePivot(order, {
      client: agent.client(this.world.child.client),
      cache,
      clock: this.#clock,
      signal: new AbortController().signal,
      home: HOME,
      apiServer: ok({ url: "https://10.96.0.1:443", ca: "CA" }),
    });
    if (agent.dead) {
      this.#agentKills += 1;
      this.world.setConnected(false);
    }
    return prepared;
  }

  #count(): void {
    this.#messages += 1;
    this.#onMessage(this.#messages);
  }

  #childClient(): KubeClient {
    const openTunnel: OpenTunnel = async (name, signal) => {
      const opened = await this.world.tunnels.openTunnel(name, signal);
      return opened.ok ? ok(this.#counted(opened.value)) : opened;
    };
    return createKubeClient({ transport: tunnelTransport("prod", openTunnel), clock: this.#clock, random: seededRandom(2) });
  }

  /** Every message of both directions is counted before it arrives; one that arrives on a broken connection is lost. */
  #counted(frames: TunnelFrames): TunnelFrames {
    const count = () => this.#count();
    const isLost = () => !this.world.agent.connected;
    async function* read() {
      for await (const frame of frames.read) {
        count();
        if (isLost()) throw new Error("the connection is lost");
        yield frame;
      }
    }
    return {
      ...frames,
      read: read(),
      write: (frame) => {
        count();
        return frames.write(frame);
      },
    };
  }

  async #compare(direction: Direction, what: string): Promise<void> {
    const { parent, child } = this.world;
    const [owner, other] = direction === "to-child" ? [child, parent] : [parent, child];
    const [moved, left] = [await movedContents(owner.client), await movedContents(other.client)];
    const wrong = [...left.keys()].map((name) => `${name} is left at the other side`);
    for (const [name, object] of this.#expected)
      if (comparable(moved.get(name)) !== comparable(object)) wrong.push(`${name} is not what it was`);
    for (const name of moved.keys()) if (!this.#expected.has(name)) wrong.push(`${name} is new`);
    wrong.push(...(await danglingOwners(owner.client, CAPI)));
    const owners = [(await this.world.ownership(owner)).state, (await this.world.ownership(other)).state].join(", ");
    if (owners !== "owner, never-moved") wrong.push(`the traces of the move: ${owners}`);
    const found = [...this.wrong.splice(0), ...wrong];
    this.wrong.push(...found.map((text) => `${what}: ${text}`));
  }
}

type Drive = {
  readonly direction: Direction;
  readonly cell: MortalProcess;
  /** A lost connection is back before the attempt has ended. */
  readonly returnsAtOnce: boolean;
};

/** Without the kubeconfig, which each side has its own of, and what does not belong to the cluster. */
async function movedContents(client: KubeClient): Promise<ReadonlyMap<string, unknown>> {
  return new Map([...(await contentsOf(client, CAPI))].filter(([name]) => !/unrelated|kubeconfig/.test(name)));
}
