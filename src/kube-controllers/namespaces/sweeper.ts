/**
 * Deletes the contents of a namespace and reports what is left; pods before anything else.
 *
 * A kind without objects in the informer is not swept; the server confirms that it is empty (holders.ts).
 */
import { ok, type Clock, type Result } from "#base";
import { groupResourceOf, metadataOf, pods, type KubeObject } from "#kube";
import type { KubeClient, KubeError } from "#kube-client";
import type { ServedResource } from "../discovery.ts";
import type { EveryKind } from "../every-kind.ts";
import type { Findings } from "./conditions.ts";
import { Holders, type Since } from "./holders.ts";

export type Sweep = Findings & {
  /** Seconds until the rest may be deleted; 0: nothing is left, or unknown. */
  readonly estimateSeconds: number;
  /** The number of remaining objects, by kind. */
  readonly remaining: ReadonlyMap<ServedResource, number>;
};

export type Sweeping = { readonly namespace: string; readonly deletedAt: number; readonly since: Since; readonly signal: AbortSignal };

type Swept = { readonly estimateSeconds: number; readonly left: readonly KubeObject[] };

/** For finalizers, whose controllers report no time. */
const FINALIZER_SECONDS = 15;
const BACKGROUND = { propagation: "Background" } as const;
/** Two kinds with the same storage. */
const SAME_AS_OTHERS = new Set(["events.events.k8s.io"]);

export class Sweeper {
  readonly #client: KubeClient;
  readonly #everyKind: EveryKind;
  readonly #clock: Clock;
  readonly #holders: Holders;

  constructor(client: KubeClient, everyKind: EveryKind, clock: Clock) {
    this.#client = client;
    this.#everyKind = everyKind;
    this.#clock = clock;
    this.#holders = new Holders(client, clock);
  }

  async sweep(sweeping: Sweeping): Promise<Sweep> {
    const { preferred, failures } = this.#everyKind.discovered;
    const kinds = preferred.filter((kind) => kind.namespaced && kind.verbs.has("delete") && !SAME_AS_OTHERS.has(groupResourceOf(kind)));
    const tally = new Tally(failures);
    const pods = kinds.filter((kind) => groupResourceOf(kind) === "pods");
    await this.#sweepAll(pods, sweeping, tally);
    if (tally.remaining.size > 0) return tally.result(false);
    await this.#sweepAll(
      kinds.filter((kind) => !pods.includes(kind)),
      sweeping,
      tally,
    );
    return tally.result(true);
  }

  /** The number of objects in the informers of the namespace; undefined when a kind has no informer. */
  shown(namespace: string, kinds: Iterable<ServedResource>): number | undefined {
    let count = 0;
    for (const kind of kinds) {
      const informer = this.#everyKind.syncedInformer(kind);
      if (informer === undefined) return undefined;
      count += informer.list(namespace).length;
    }
    return count;
  }

  async #sweepAll(kinds: readonly ServedResource[], sweeping: Sweeping, tally: Tally): Promise<void> {
    await Promise.all(
      kinds.map(async (kind) => {
        const swept = await this.#sweepKind(kind, sweeping);
        if (!swept.ok) tally.failed(swept.error);
        else tally.swept(kind, swept.value, sweeping.namespace);
      }),
    );
  }

  async #sweepKind(kind: ServedResource, sweeping: Sweeping): Promise<Result<Swept, KubeError>> {
    const held = await this.#isHeld(kind, sweeping);
    if (!held.ok) return held;
    if (!held.value) return ok({ estimateSeconds: 0, left: [] });
    const estimate = groupResourceOf(kind) === "pods" ? await this.#graceOfPods(sweeping) : ok(0);
    if (!estimate.ok) return estimate;
    const deleted = await this.#deleteAll(kind, sweeping);
    if (!deleted.ok) return deleted;
    const left = await this.#list(kind, sweeping);
    return left.ok ? ok({ estimateSeconds: estimate.value, left: left.value }) : left;
  }

  async #isHeld(kind: ServedResource, { namespace, since, signal }: Sweeping): Promise<Result<boolean, KubeError>> {
    const informer = this.#everyKind.syncedInformer(kind);
    if (informer !== undefined && informer.list(namespace).length > 0) return ok(true);
    if (!kind.verbs.has("list")) return ok(true);
    return absentIsEmpty(await this.#holders.holds(kind, namespace, since, signal), false);
  }

  async #deleteAll(kind: ServedResource, { namespace, signal }: Sweeping): Promise<Result<void, KubeError>> {
    if (kind.verbs.has("deletecollection")) {
      const answer = await this.#client.deleteCollection(kind, { namespace }, { ...BACKGROUND, signal });
      return absentIsEmpty(answer, undefined);
    }
    const listed = await this.#list(kind, { namespace, signal });
    for (const { metadata } of listed.ok ? listed.value : []) {
      const answer = await this.#client.delete(kind, { namespace, name: metadata.name }, { ...BACKGROUND, signal });
      if (!answer.ok) return answer;
    }
    return listed.ok ? ok(undefined) : listed;
  }

  async #list(
    kind: ServedResource,
    { namespace, signal }: Pick<Sweeping, "namespace" | "signal">,
  ): Promise<Result<readonly KubeObject[], KubeError>> {
    if (!kind.verbs.has("list")) return ok([]);
    const listed = await this.#client.list(metadataOf(kind), { namespace }, { signal });
    return absentIsEmpty(listed.ok ? ok(listed.value.items) : listed, []);
  }

  /** The longest grace period of a pod; none once the namespace has waited for that long. */
  async #graceOfPods({ namespace, deletedAt, signal }: Sweeping): Promise<Result<number, KubeError>> {
    const listed = await this.#client.list(pods, { namespace }, { signal });
    if (!listed.ok) return listed;
    const running = listed.value.items.filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
    const longest = Math.max(0, ...running.map(({ spec }) => spec?.terminationGracePeriodSeconds ?? 0));
    return ok(this.#clock.now() - deletedAt >= longest * 1_000 ? 0 : longest);
  }
}

/** A kind that was discovered and is no longer served has no objects. */
function absentIsEmpty<T>(answer: Result<T, KubeError>, empty: T): Result<T, KubeError> {
  return answer.ok || answer.error.kind !== "not-found" ? answer : ok(empty);
}

class Tally {
  readonly #failures: ReadonlyMap<string, string>;
  readonly #errors: string[] = [];
  readonly #finalizers = new Map<string, number>();
  readonly remaining = new Map<ServedResource, number>();
  #estimate = 0;

  constructor(discoveryFailures: ReadonlyMap<string, string>) {
    this.#failures = discoveryFailures;
  }

  failed(error: KubeError): void {
    this.#errors.push(error.message);
  }

  swept(kind: ServedResource, { estimateSeconds, left }: Swept, namespace: string): void {
    if (left.length === 0) return;
    this.remaining.set(kind, left.length);
    const finalizers = left.flatMap(({ metadata }) => metadata.finalizers ?? []);
    for (const finalizer of finalizers) this.#finalizers.set(finalizer, (this.#finalizers.get(finalizer) ?? 0) + 1);
    const estimate = estimateSeconds === 0 && finalizers.length > 0 ? FINALIZER_SECONDS : estimateSeconds;
    this.#estimate = Math.max(this.#estimate, estimate);
    if (estimate > 0) return;
    const gvr = `${kind.group}/${kind.version}, Resource=${kind.plural}`;
    this.#errors.push(`unexpected items still remain in namespace: ${namespace} for gvr: ${gvr}`);
  }

  result(complete: boolean): Sweep {
    const kinds = new Map([...this.remaining].map(([{ plural, group }, count]) => [`${plural}.${group}`, count]));
    return {
      discoveryFailures: this.#failures,
      contentErrors: this.#errors,
      leftovers: complete ? { kinds, finalizers: this.#finalizers } : undefined,
      estimateSeconds: this.#estimate,
      remaining: this.remaining,
    };
  }
}
