/**
 * Deletes the contents of terminating namespaces, reports in their conditions what is left, and removes the finalizer.
 *
 * kube-controller-manager rechecks after an estimate of when finalizers are done, about 7.5 seconds later. Here the deletion of the last
 * object triggers the namespace at once; the estimate remains for kinds that are not watched.
 */
import { ok, timestamp, type Result } from "#base";
import { namespaces, type Namespace } from "#kube";
import type { KubeError } from "#kube-client";
import type { KubeController, KubeControllerContext } from "../context.ts";
import { again, done, failed, passOf, type Pass } from "../work.ts";
import { namespaceConditions } from "./conditions.ts";
import { Sweeper, type Sweep } from "./sweeper.ts";

export type NamespaceControllerOptions = {
  /**
   * How long a namespace is not swept: requests that were admitted before its deletion may still be under way.
   * kube-controller-manager waits 5 seconds, for API servers that are informed with a delay.
   */
  readonly graceMs?: number;
};

const GRACE_MS = 5_000;
const FINALIZER = "kubernetes";
const CONCURRENCY = 20;
const BACKOFF = { initialMs: 5, maxMs: 60_000, factor: 2 };

export function namespaceController({ graceMs = GRACE_MS }: NamespaceControllerOptions = {}): KubeController {
  return { name: "namespace-controller", start: (context) => new Namespaces(context, graceMs).start() };
}

class Namespaces {
  readonly #context: KubeControllerContext;
  readonly #graceMs: number;
  readonly #sweeper: Sweeper;
  /** From when on a namespace may be swept. */
  readonly #ending = new Map<string, { readonly uid: string | undefined; readonly dueAt: number }>();
  /** By name: the number of objects in the informers. */
  readonly #awaited = new Map<string, number>();

  constructor(context: KubeControllerContext, graceMs: number) {
    this.#context = context;
    this.#graceMs = graceMs;
    this.#sweeper = new Sweeper(context.client, context.everyKind(), context.clock);
  }

  start(): void {
    const { informers, clock } = this.#context;
    const everyKind = this.#context.everyKind();
    const queue = this.#context.work({
      name: "namespaces",
      concurrency: CONCURRENCY,
      backoff: BACKOFF,
      pass: async (name, signal) => {
        await everyKind.ready();
        return this.#pass(name, signal);
      },
    });
    informers.subscribe(namespaces, ({ key, after }) => {
      this.#awaited.delete(key.name);
      if (after?.metadata.deletionTimestamp === undefined) return void this.#ending.delete(key.name);
      queue.addAfter(key.name, this.#dueAt(after) - clock.monotonic());
    });
    everyKind.subscribe({
      changed: (_resource, { key, after }) => {
        const awaited = after === undefined && key.namespace !== undefined ? this.#awaited.get(key.namespace) : undefined;
        if (awaited === undefined || key.namespace === undefined) return;
        this.#awaited.set(key.namespace, awaited - 1);
        if (awaited <= 1) queue.add(key.namespace);
      },
    });
  }

  async #pass(name: string, signal: AbortSignal): Promise<Pass> {
    const { informers, clock } = this.#context;
    this.#awaited.delete(name);
    const namespace = informers.of(namespaces).get({ name });
    if (namespace?.metadata.deletionTimestamp === undefined || (namespace.spec?.finalizers ?? []).length === 0) return done;
    const monotonic = this.#dueAt(namespace);
    if (monotonic > clock.monotonic()) return again(monotonic - clock.monotonic());
    const since = { resourceVersion: namespace.metadata.resourceVersion ?? "", monotonic };
    const deletedAt = Date.parse(namespace.metadata.deletionTimestamp);
    const sweep = await this.#sweeper.sweep({ namespace: name, deletedAt, since, signal });
    const isEmpty = sweep.remaining.size === 0 && sweep.contentErrors.length === 0 && sweep.discoveryFailures.size === 0;
    if (isEmpty && endsWithOurFinalizer(namespace)) return passOf(await this.#finalize(namespace, signal));
    const written = await this.#writeConditions(namespace, sweep, signal);
    if (!written.ok) return passOf(written);
    return isEmpty ? passOf(await this.#finalize(written.value, signal)) : this.#wait(name, sweep);
  }

  #wait(name: string, { estimateSeconds, contentErrors, discoveryFailures, remaining }: Sweep): Pass {
    const problems = [...contentErrors, ...[...discoveryFailures].map(([group, message]) => `${group}: ${message}`)];
    if (problems.length > 0) return failed(problems.join(", "));
    const shown = this.#sweeper.shown(name, remaining.keys());
    if (shown === 0) return again(0);
    if (shown !== undefined) this.#awaited.set(name, shown);
    return again((Math.floor(estimateSeconds / 2) + 1) * 1_000);
  }

  async #writeConditions(namespace: Namespace, sweep: Sweep, signal: AbortSignal): Promise<Result<Namespace, KubeError>> {
    const { client, clock } = this.#context;
    const before = namespace.status?.conditions ?? [];
    const conditions = namespaceConditions(before, sweep, timestamp(clock));
    if (conditions === before) return ok(namespace);
    const status = { ...namespace.status, phase: "Terminating", conditions };
    return client.update(namespaces, { ...namespace, status }, { subresource: "status", signal });
  }

  async #finalize(namespace: Namespace, signal: AbortSignal): Promise<Result<unknown, KubeError>> {
    const finalizers = (namespace.spec?.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
    const { status: _status, ...rest } = namespace;
    const finalized = { ...rest, spec: { ...namespace.spec, finalizers } };
    const answer = await this.#context.client.update(namespaces, finalized, { subresource: "finalize", signal });
    return !answer.ok && answer.error.kind === "not-found" ? ok(undefined) : answer;
  }

  /** Counted from when the deletion was observed: its timestamp is from another clock. */
  #dueAt({ metadata: { name, uid } }: Namespace): number {
    const known = this.#ending.get(name);
    if (known?.uid === uid && known !== undefined) return known.dueAt;
    const dueAt = this.#context.clock.monotonic() + this.#graceMs;
    this.#ending.set(name, { uid, dueAt });
    return dueAt;
  }
}

/** Only this controller's finalizer is left: its conditions would not be visible. */
function endsWithOurFinalizer({ metadata, spec }: Namespace): boolean {
  return (metadata.finalizers ?? []).length === 0 && (spec?.finalizers ?? []).every((finalizer) => finalizer === FINALIZER);
}
