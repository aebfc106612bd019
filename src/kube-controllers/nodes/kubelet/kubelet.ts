/**
 * The kubelets of all simulated nodes, as one controller: a key is a Pod, a pass advances its containers and writes its status.
 *
 * A status is compared with the server's: the cached copy, or the last written one while the cache is older. So a write
 * is not repeated on an old copy, and changes of other clients (node lifecycle marks Pods not Ready) are corrected.
 */
import type { WorkQueue } from "#controller-runtime";
import { keyText, parseKey, pods as podResource, type Pod, type PodStatus } from "#kube";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { podsOnNode } from "../../pods/pods-on-node.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import { isPodOver } from "../../workloads/pods/pod-state.ts";
import { WrittenVersions } from "../../workloads/pods/written-versions.ts";
import { AddressPool } from "../address-pool.ts";
import type { Circumstances } from "../faults/behaviour.ts";
import type { Machines } from "../machines/machines.ts";
import type { PodProcesses } from "../pod-processes.ts";
import { notesOf, stoppingNotes } from "./notes.ts";
import { stepPod, stopPod, type PodRun } from "./pod-run.ts";
import { podStatus } from "./pod-status.ts";
import { ProcessPods } from "./process-pods.ts";
import { restorePod, startOver } from "./restore.ts";
import { writePodStatus } from "./write-pod-status.ts";

export type KubeletOptions = {
  readonly machines: Machines;
  readonly circumstances: Circumstances;
  /** Absent: every Pod is simulated. */
  readonly processes?: PodProcesses | undefined;
};

/** `written`: the status on the server, as far as known. `machine`: the uid of the Node that runs it. */
type TrackedPod = { run: PodRun; written: PodStatus; machine: string | undefined };

export function kubelet(options: KubeletOptions): KubeController {
  return {
    name: "kubelet",
    start(context) {
      const kubelets = new Kubelets(context, options);
      const queue = context.work({ name: "kubelet", pass: (key) => kubelets.pass(key), concurrency: 10 });
      kubelets.follow(queue);
    },
  };
}

class Kubelets {
  readonly #context: KubeControllerContext;
  readonly #machines: Machines;
  readonly #circumstances: Circumstances;
  readonly #addresses = new AddressPool("10.244");
  /** By uid. */
  readonly #living = new Map<string, TrackedPod>();
  readonly #versions = new WrittenVersions();
  readonly #processPods: ProcessPods | undefined;

  constructor(context: KubeControllerContext, { machines, circumstances, processes }: KubeletOptions) {
    this.#context = context;
    this.#machines = machines;
    this.#circumstances = circumstances;
    if (processes !== undefined) this.#processPods = new ProcessPods(context, { machines, processes, addresses: this.#addresses });
  }

  follow(queue: WorkQueue): void {
    this.#processPods?.follow(queue);
    const { informers, signal } = this.#context;
    const pods = informers.of(podResource);
    informers.subscribe(podResource, ({ key, before, after }) => {
      if (before !== undefined && before.metadata.uid !== after?.metadata.uid) this.#forget(before);
      if (after !== undefined && this.#machines.runs(after.spec.nodeName)) queue.add(keyText(key));
    });
    const podsOf = podsOnNode(informers);
    const lookAgain = (found: readonly Pod[]) => {
      for (const { metadata, spec } of found) if (this.#machines.runs(spec.nodeName)) queue.add(keyText(metadata));
    };
    const ends = [
      this.#circumstances.faults.subscribe(() => lookAgain(pods.list())),
      this.#machines.subscribe((name) => lookAgain(podsOf(name))),
    ];
    signal.addEventListener("abort", () => ends.forEach((end) => end()), { once: true });
  }

  async pass(key: string): Promise<Pass> {
    const pod = this.#context.informers.of(podResource).get(parseKey(key));
    if (pod !== undefined && this.#processPods?.runs(pod) === true) return this.#processPods.pass(pod);
    if (pod === undefined || !this.#machines.runs(pod.spec.nodeName)) return done;
    if (pod.metadata.deletionTimestamp !== undefined) return this.#terminate(pod);
    return isPodOver(pod) ? done : this.#advance(pod);
  }

  async #advance(pod: Pod): Promise<Pass> {
    const { clock, record } = this.#context;
    const living = this.#livingOf(pod);
    const now = clock.now();
    const step = stepPod(pod, living.run, this.#circumstances, now);
    living.run = step.run;
    for (const note of notesOf(pod, step.happened)) record(note);
    const written = await this.#write(pod, living);
    if (written.kind !== "done") return written;
    return step.wakeAt === undefined ? done : again(Math.max(1, step.wakeAt - now));
  }

  /** Containers get their grace period; then the final status is written, and only then is the object removed: the Job controller reads the phase. */
  async #terminate(pod: Pod): Promise<Pass> {
    const { clock, client, record } = this.#context;
    const now = clock.now();
    const living = this.#livingOf(pod);
    if (!isPodOver(pod)) {
      const since = living.run.stoppingSince ?? now;
      if (living.run.stoppingSince === undefined) {
        living.run = { ...living.run, stoppingSince: since };
        for (const note of stoppingNotes(pod, living.run)) record(note);
      }
      const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1_000;
      const until = since + Math.min(this.#circumstances.speeds.stopMs, graceMs);
      if (until > now) return again(until - now);
      living.run = stopPod(pod, living.run, until);
      const written = await this.#write(pod, living);
      if (written.kind !== "done") return written;
    }
    const { namespace, name, uid = "" } = pod.metadata;
    const deleted = await client.delete(podResource, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
    return deleted.ok || deleted.error.kind === "conflict" ? done : passOf(deleted);
  }

  async #write(pod: Pod, living: TrackedPod): Promise<Pass> {
    const { clock, client } = this.#context;
    const hostIP = this.#machines.addressOf(pod.spec.nodeName ?? "");
    const view = { pod, run: living.run, circumstances: this.#circumstances, hostIP, now: clock.now() };
    const status = podStatus(view, living.written.conditions ?? []);
    const { pass, object } = await writePodStatus(client, { pod, status, written: living.written });
    if (object !== undefined) {
      living.written = status;
      this.#versions.wrote(object);
    }
    return pass;
  }

  #livingOf(pod: Pod): TrackedPod {
    const { uid = "" } = pod.metadata;
    const machine = this.#machines.get(pod.spec.nodeName ?? "")?.uid;
    const known = this.#living.get(uid);
    if (known !== undefined) {
      if (this.#versions.isCurrent(pod)) known.written = pod.status ?? {};
      if (known.machine !== machine) known.run = startOver(pod, known.run, this.#context.clock.now());
      known.machine = machine;
      return known;
    }
    if (pod.status?.podIP !== undefined) this.#addresses.reserve(uid, pod.status.podIP);
    const run = restorePod(pod, { now: this.#context.clock.now(), podIP: this.#addresses.take(uid) });
    const living = { run, written: pod.status ?? {}, machine };
    this.#living.set(uid, living);
    return living;
  }

  #forget({ metadata: { uid = "" } }: Pod): void {
    this.#living.delete(uid);
    this.#versions.forget(uid);
    this.#addresses.release(uid);
  }
}
