/**
 * Deletes Pods that no other controller deletes: finished ones above the limit, those on deleted nodes, terminating ones
 * without a node, and those that cannot end because their node is out of service.
 *
 * All Pods are checked every 20 seconds, as in kube-controller-manager: often no event shows that a Pod can be deleted. When
 * a tenth more Pods have finished than are kept, they are checked sooner: Jobs can finish thousands of Pods in 20 seconds.
 */
import { ok, timestamp } from "#base";
import { field, keyText, nodes, pods as podKind, type Node, type ObjectKey, type Pod, type PodCondition } from "#kube";
import type { KubeController, KubeControllerContext } from "../context.ts";
import { again, done, passOf, worstPass, type Pass } from "../work.ts";
import { isPodFinished, withPodCondition } from "./pod-status.ts";

export type PodCollectorOptions = {
  /** The number of finished Pods that are kept. */
  readonly terminatedPodThreshold?: number;
};

const PERIOD_MS = 20_000;
/** A node that is not in the cache may be new; after this time it is read from the server. */
const QUARANTINE_MS = 40_000;
const THRESHOLD = 12_500;
const ALL_PODS = "all pods";
const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";
const ORPHANED: PodCondition = {
  type: "DisruptionTarget",
  status: "True",
  reason: "DeletionByPodGC",
  message: "PodGC: node no longer exists",
};

export function podCollector({ terminatedPodThreshold = THRESHOLD }: PodCollectorOptions = {}): KubeController {
  return { name: "pod-garbage-collector-controller", start: (context) => new PodCollector(context, terminatedPodThreshold).start() };
}

class PodCollector {
  readonly #context: KubeControllerContext;
  readonly #threshold: number;
  /** Nodes that Pods reference and that do not exist, with the time at which this was first observed. */
  readonly #missing = new Map<string, number>();
  #finished = 0;

  constructor(context: KubeControllerContext, threshold: number) {
    this.#context = context;
    this.#threshold = threshold;
  }

  start(): void {
    const { informers } = this.#context;
    informers.of(podKind);
    informers.of(nodes);
    const queue = this.#context.work({ name: "pod-garbage", concurrency: 1, pass: (_key, signal) => this.#pass(signal) });
    queue.add(ALL_PODS);
    informers.subscribe(podKind, ({ before, after }) => {
      const change = Number(countsAsFinished(after)) - Number(countsAsFinished(before));
      this.#finished += change;
      if (change > 0 && this.#threshold > 0 && this.#finished > this.#threshold * 1.1) queue.add(ALL_PODS);
    });
  }

  async #pass(signal: AbortSignal): Promise<Pass> {
    const { informers } = this.#context;
    const pods = informers.of(podKind).list();
    const gone = await this.#goneNodes(pods, signal);
    const chosen = new Map<string, { readonly pod: Pod; readonly condition?: PodCondition }>();
    const choose = (pod: Pod, condition?: PodCondition) =>
      chosen.set(keyText(keyOf(pod)), condition === undefined ? { pod } : { pod, condition });
    for (const pod of this.#tooMany(pods)) choose(pod);
    for (const pod of pods) {
      const { nodeName = "" } = pod.spec ?? {};
      const terminating = pod.metadata.deletionTimestamp !== undefined;
      if (gone.has(nodeName)) choose(pod, ORPHANED);
      else if (terminating && (nodeName === "" || isOutOfService(informers.of(nodes).get({ name: nodeName })))) choose(pod);
    }
    const passes = await Promise.all([...chosen.values()].map(({ pod, condition }) => this.#remove(pod, condition, signal)));
    const worst = worstPass(passes);
    return worst.kind === "done" ? again(PERIOD_MS) : worst;
  }

  #tooMany(pods: readonly Pod[]): readonly Pod[] {
    const finished = pods.filter(isPodFinished);
    const surplus = finished.length - this.#threshold;
    return this.#threshold > 0 && surplus > 0 ? finished.toSorted(evictedThenOldest).slice(0, surplus) : [];
  }

  async #goneNodes(pods: readonly Pod[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { informers, clock, client } = this.#context;
    const named = new Set(pods.flatMap(({ spec }) => (spec?.nodeName === undefined || spec.nodeName === "" ? [] : [spec.nodeName])));
    const gone = new Set<string>();
    for (const name of this.#missing.keys()) if (!named.has(name)) this.#missing.delete(name);
    for (const name of named) {
      if (informers.of(nodes).get({ name }) !== undefined) {
        this.#missing.delete(name);
        continue;
      }
      const since = this.#missing.get(name) ?? clock.monotonic();
      this.#missing.set(name, since);
      if (clock.monotonic() - since < QUARANTINE_MS) continue;
      const answer = await client.get(nodes, { name }, { signal });
      if (!answer.ok && answer.error.kind === "not-found") gone.add(name);
    }
    return gone;
  }

  /** The phase becomes Failed first: watchers must not see a running Pod of a dead node deleted. */
  async #remove(pod: Pod, condition: PodCondition | undefined, signal: AbortSignal): Promise<Pass> {
    const { client, logger } = this.#context;
    const key = keyOf(pod);
    if (isPodFinished(pod) && isDeletedWithoutGrace(pod)) return done;
    logger.info("Pod is deleted as garbage", { ...key });
    const marked = isPodFinished(pod) ? ok(undefined) : await this.#markFailed(pod, condition, signal);
    if (!marked.ok && marked.error.kind !== "not-found") return passOf(marked);
    return passOf(await client.delete(podKind, key, { gracePeriodSeconds: 0, signal }));
  }

  #markFailed(pod: Pod, condition: PodCondition | undefined, signal: AbortSignal) {
    const { client, clock } = this.#context;
    const { uid = "", generation } = pod.metadata;
    const conditions =
      condition === undefined ? [] : withPodCondition(pod, condition, timestamp(clock)).filter(({ type }) => type === condition.type);
    const status = {
      phase: "Failed",
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      ...(condition === undefined ? {} : { conditions }),
    };
    return client.patch(
      podKind,
      keyOf(pod),
      { type: "strategic", patch: { metadata: { uid }, status } },
      { subresource: "status", signal },
    );
  }
}

/** Finished, and not already deleted with a grace period of zero. */
function countsAsFinished(pod: Pod | undefined): boolean {
  return pod !== undefined && isPodFinished(pod) && !isDeletedWithoutGrace(pod);
}

function keyOf({ metadata }: Pod): ObjectKey {
  return { namespace: metadata.namespace, name: metadata.name };
}

/** Deleted with a grace period of zero: only its finalizers keep it, and another delete would not remove them. */
function isDeletedWithoutGrace({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && field(metadata, "deletionGracePeriodSeconds") === 0;
}

function isOutOfService(node: Node | undefined): boolean {
  if (node === undefined) return false;
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
  return !ready && node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) === true;
}

function evictedThenOldest(a: Pod, b: Pod): number {
  const evicted = ({ status }: Pod) => status?.phase === "Failed" && status.reason === "Evicted";
  if (evicted(a) !== evicted(b)) return evicted(a) ? -1 : 1;
  const [left, right] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ""} ${metadata.name}`);
  return (left ?? "") < (right ?? "") ? -1 : 1;
}
