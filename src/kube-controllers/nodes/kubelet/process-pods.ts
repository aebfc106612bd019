/**
 * Pods that run as processes: starts and stops them through the port, and writes what it reports into the status.
 *
 * The processes may be older than this kubelet. Until the port knows their states, the status stays as it is: a restart of the kubelet must
 * not make a running Pod unready.
 */
import type { WorkQueue } from "#controller-runtime";
import { keyText, pods as podResource, type Container, type Pod, type PodStatus } from "#kube";
import type { KubeControllerContext } from "../../context.ts";
import { podsOnNode } from "../../pods/pods-on-node.ts";
import { done, passOf, type Pass } from "../../work.ts";
import { isPodOver, timeOf } from "../../workloads/pods/pod-state.ts";
import { WrittenVersions } from "../../workloads/pods/written-versions.ts";
import type { AddressPool } from "../address-pool.ts";
import type { Machines } from "../machines/machines.ts";
import type { PodProcesses } from "../pod-processes.ts";
import { killingNotes, processNotes } from "./process-notes.ts";
import { processPodStatus } from "./process-status.ts";
import { writePodStatus } from "./write-pod-status.ts";

export type ProcessPodsOptions = { readonly machines: Machines; readonly processes: PodProcesses; readonly addresses: AddressPool };

type TrackedProcesses = {
  readonly startedAt: number;
  readonly podIP: string;
  /** The status on the server, as far as known. */
  written: PodStatus;
  /** The grace period with which it was stopped. */
  graceMs: number | undefined;
};

export class ProcessPods {
  readonly #context: KubeControllerContext;
  readonly #machines: Machines;
  readonly #processes: PodProcesses;
  readonly #addresses: AddressPool;
  /** By uid. */
  readonly #tracked = new Map<string, TrackedProcesses>();
  readonly #keys = new Map<string, string>();
  readonly #versions = new WrittenVersions();

  constructor(context: KubeControllerContext, { machines, processes, addresses }: ProcessPodsOptions) {
    this.#context = context;
    this.#machines = machines;
    this.#processes = processes;
    this.#addresses = addresses;
  }

  runs(pod: Pod): boolean {
    return this.#processes.runs(pod);
  }

  follow(queue: WorkQueue): void {
    const { informers, signal } = this.#context;
    informers.subscribe(podResource, ({ key, before, after }) => {
      const isReplaced = before !== undefined && before.metadata.uid !== after?.metadata.uid;
      if (isReplaced) this.#forget(before);
      if (after === undefined) return;
      if (!this.runs(after)) return this.#forget(after); // its labels were changed, for example
      this.#keys.set(after.metadata.uid ?? "", keyText(key));
      queue.add(keyText(key));
    });
    const podsOf = podsOnNode(informers);
    const addAll = (node: string) => podsOf(node).forEach(({ metadata }) => addOne(metadata.uid ?? ""));
    const addOne = (uid: string) => {
      const key = this.#keys.get(uid);
      if (key !== undefined) queue.add(key);
    };
    const ends = [this.#machines.subscribe(addAll), this.#processes.subscribe(addOne)];
    signal.addEventListener("abort", () => ends.forEach((end) => end()), { once: true });
    this.#retainLater();
  }

  /** Workers begin when all Pods are listed: only then it is known which processes have no Pod any more. */
  #retainLater(): void {
    const retain = () => {
      this.#processes.retain(new Set(this.#keys.keys()));
      return Promise.resolve(done);
    };
    this.#context.work({ name: "kubelet-adoption", pass: retain }).add("all");
  }

  async pass(pod: Pod): Promise<Pass> {
    if (!this.#machines.runs(pod.spec.nodeName)) return this.#endAt(pod);
    if (pod.metadata.deletionTimestamp !== undefined) return this.#terminate(pod);
    if (isPodOver(pod)) return done;
    this.#processes.ensure(pod);
    return this.#report(pod, this.#trackedOf(pod), false);
  }

  /** A node without power: its processes end, and nothing reports it. */
  #endAt(pod: Pod): Pass {
    if (this.#processes.states(pod.metadata.uid ?? "") !== undefined && !this.#haveEnded(pod)) this.#processes.stop(pod, 0);
    return done;
  }

  /** The final status is written when every container has ended, and only then is the object removed. The port reports each end. */
  async #terminate(pod: Pod): Promise<Pass> {
    const { namespace, name, uid = "" } = pod.metadata;
    const tracked = this.#trackedOf(pod);
    if (!this.#haveEnded(pod)) this.#stop(pod, tracked);
    const isFinal = this.#haveEnded(pod);
    if (!isPodOver(pod)) {
      const reported = await this.#report(pod, tracked, isFinal);
      if (reported.kind !== "done") return reported;
    }
    if (!isFinal) return done;
    const deleted = await this.#context.client.delete(podResource, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
    return deleted.ok || deleted.error.kind === "conflict" ? done : passOf(deleted);
  }

  /** Once, and again when a second deletion has a shorter grace period. */
  #stop(pod: Pod, tracked: TrackedProcesses): void {
    const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1_000;
    if (tracked.graceMs !== undefined && tracked.graceMs <= graceMs) return;
    if (tracked.graceMs === undefined) for (const note of killingNotes(pod, tracked.written)) this.#context.record(note);
    tracked.graceMs = graceMs;
    this.#processes.stop(pod, graceMs);
  }

  async #report(pod: Pod, tracked: TrackedProcesses, isFinal: boolean): Promise<Pass> {
    const { client, clock, record } = this.#context;
    const states = this.#processes.states(pod.metadata.uid ?? "");
    // not known yet: only a Pod without a status gets its first one
    if (states === undefined && tracked.written.startTime !== undefined) return done;
    const { written, startedAt, podIP } = tracked;
    const hostIP = this.#machines.addressOf(pod.spec.nodeName ?? "");
    const status = processPodStatus({ pod, states, isFinal, written, startedAt, podIP, hostIP, now: clock.now() });
    const { pass, object } = await writePodStatus(client, { pod, status, written });
    if (object === undefined) return pass;
    tracked.written = status;
    this.#versions.wrote(object);
    for (const note of processNotes(pod, written, status)) record(note);
    return pass;
  }

  #trackedOf(pod: Pod): TrackedProcesses {
    const { uid = "" } = pod.metadata;
    const { status = {} } = pod;
    const known = this.#tracked.get(uid);
    if (known !== undefined) {
      if (this.#versions.isCurrent(pod)) known.written = status;
      return known;
    }
    if (status.podIP !== undefined) this.#addresses.reserve(uid, status.podIP);
    const startedAt = status.startTime === undefined ? this.#context.clock.now() : timeOf(status.startTime);
    const tracked = { startedAt, podIP: status.podIP ?? this.#addresses.take(uid), written: status, graceMs: undefined };
    this.#tracked.set(uid, tracked);
    return tracked;
  }

  /** The kubelet releases the address: it does so for every Pod. */
  #forget(pod: Pod): void {
    const { uid = "" } = pod.metadata;
    this.#tracked.delete(uid);
    this.#versions.forget(uid);
    if (this.#keys.delete(uid)) this.#processes.forget(uid);
  }

  /** Whether every container is known to have ended. */
  #haveEnded({ metadata, spec }: Pod): boolean {
    const states = this.#processes.states(metadata.uid ?? "");
    const isEnded = ({ name }: Container) => states?.get(name)?.state.kind === "ended";
    // an init container without a state never began
    return spec.containers.every(isEnded) && (spec.initContainers ?? []).every((one) => states?.has(one.name) !== true || isEnded(one));
  }
}
