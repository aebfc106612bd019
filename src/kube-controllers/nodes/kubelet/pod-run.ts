/**
 * The run of a Pod on its node: init containers one after the other, sidecars in parallel to what follows, then the main containers. Pure.
 */
import type { Container, Pod } from "#kube";
import { behaviourOf, type Behaviour, type Circumstances, type Role } from "../faults/behaviour.ts";
import { advance, BLOCKED, stop, unblock, type ContainerRun, type Happening, type Rules } from "./container-run.ts";

export type PodRun = {
  /** When the node accepted it. */
  readonly startedAt: number;
  readonly podIP: string;
  /** By container name; names are unique in a Pod. */
  readonly containers: ReadonlyMap<string, ContainerRun>;
  readonly stoppingSince?: number;
};

export type ContainerHappening = Happening & { readonly container: Container };

export type PodStep = {
  readonly run: PodRun;
  readonly wakeAt: number | undefined;
  readonly happened: readonly ContainerHappening[];
};

export function roleOf(pod: Pod, container: Container): Role {
  if (pod.spec.containers.includes(container)) return "main";
  if ((pod.spec.ephemeralContainers ?? []).includes(container)) return "ephemeral";
  return container.restartPolicy === "Always" ? "sidecar" : "init";
}

export function allContainers({ spec }: Pod): readonly Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
}

export function runOf(run: PodRun, { name }: Container): ContainerRun {
  return run.containers.get(name) ?? BLOCKED;
}

export function behaviourNow(pod: Pod, run: PodRun, container: Container, circumstances: Circumstances): Behaviour {
  return behaviourOf(pod, container, { role: roleOf(pod, container), restarts: runOf(run, container).restarts }, circumstances);
}

export function stepPod(pod: Pod, run: PodRun, circumstances: Circumstances, now: number): PodStep {
  const stepper = new Stepper(pod, run, circumstances, now);
  return stepper.step();
}

/** The state of one step; created for each step. */
class Stepper {
  readonly #pod: Pod;
  readonly #circumstances: Circumstances;
  readonly #now: number;
  readonly #before: PodRun;
  readonly #containers: Map<string, ContainerRun>;
  readonly #happened: ContainerHappening[] = [];
  #wakeAt = Infinity;

  constructor(pod: Pod, run: PodRun, circumstances: Circumstances, now: number) {
    this.#pod = pod;
    this.#before = run;
    this.#circumstances = circumstances;
    this.#now = now;
    this.#containers = new Map(run.containers);
  }

  step(): PodStep {
    const { spec } = this.#pod;
    // they do not wait for the others; the Pod does not record when they were added
    for (const container of spec.ephemeralContainers ?? []) this.#advance(container, this.#now);
    const readyAt = this.#initialise();
    if (readyAt !== undefined) {
      for (const container of spec.containers) this.#advance(container, readyAt);
      this.#endOthers();
    }
    const sandboxAt = this.#before.startedAt + this.#circumstances.speeds.startMs;
    if (sandboxAt > this.#now) this.#wake(sandboxAt);
    const wakeAt = this.#wakeAt === Infinity ? undefined : this.#wakeAt;
    return { run: { ...this.#before, containers: this.#containers }, wakeAt, happened: this.#happened };
  }

  /** When the last init container allowed the main ones to start; undefined while one does not. */
  #initialise(): number | undefined {
    let from = this.#before.startedAt;
    for (const container of this.#pod.spec.initContainers ?? []) {
      const done = this.#advance(container, from);
      if (done === undefined || done > this.#now) {
        if (done !== undefined) this.#wake(done);
        return undefined;
      }
      from = Math.max(from, done);
    }
    return from;
  }

  /** Advances the container; returns when the next one may start, or undefined if not yet. */
  #advance(container: Container, from: number): number | undefined {
    const role = roleOf(this.#pod, container);
    const rules = this.#rules(container, role);
    const { run, wakeAt, happened } = advance(unblock(this.#runOf(container), from), rules, this.#now);
    this.#containers.set(container.name, run);
    this.#happened.push(...happened.map((one) => ({ ...one, container })));
    if (wakeAt !== undefined) this.#wake(wakeAt);
    if (role === "init") return run.stage === "over" && run.ended?.code === 0 ? run.ended.finishedAt : undefined;
    this.#wakeForProbes(run, rules.behaviour(run.restarts));
    const { startedAfterMs } = rules.behaviour(run.restarts);
    return run.stage === "running" && startedAfterMs !== undefined ? run.since + startedAfterMs : undefined;
  }

  #wakeForProbes(run: ContainerRun, { startedAfterMs, readyAfterMs }: Behaviour): void {
    if (run.stage !== "running") return;
    for (const after of [startedAfterMs, readyAfterMs]) {
      if (after !== undefined && run.since + after > this.#now) this.#wake(run.since + after);
    }
  }

  #rules(container: Container, role: Role): Rules {
    const policy = this.#pod.spec.restartPolicy ?? "Always";
    const restarts = (code: number) => {
      if (role === "sidecar") return true;
      if (role === "ephemeral") return false;
      if (role === "init") return code !== 0 && policy !== "Never";
      return policy === "Always" || (policy === "OnFailure" && code !== 0);
    };
    const behaviour = (count: number) => behaviourOf(this.#pod, container, { role, restarts: count }, this.#circumstances);
    return { behaviour, restarts, speeds: this.#circumstances.speeds };
  }

  /** Sidecars and ephemeral containers end after the last main container. */
  #endOthers(): void {
    const mains = this.#pod.spec.containers.map((container) => this.#runOf(container));
    if (!mains.every(({ stage }) => stage === "over")) return;
    const at = Math.max(...mains.map(({ ended }) => ended?.finishedAt ?? 0));
    for (const container of [...(this.#pod.spec.initContainers ?? []), ...(this.#pod.spec.ephemeralContainers ?? [])]) {
      this.#containers.set(container.name, stop(this.#runOf(container), 0, at));
    }
  }

  #runOf({ name }: Container): ContainerRun {
    return this.#containers.get(name) ?? BLOCKED;
  }

  #wake(at: number): void {
    this.#wakeAt = Math.min(this.#wakeAt, at);
  }
}

/** All containers, stopped. A container that should run to completion fails; a server exits with 0. */
export function stopPod(pod: Pod, run: PodRun, at: number): PodRun {
  const code = pod.spec.restartPolicy === "Never" || pod.spec.restartPolicy === "OnFailure" ? 143 : 0;
  const all = allContainers(pod);
  return { ...run, containers: new Map(all.map((container) => [container.name, stop(runOf(run, container), code, at)])) };
}
