/**
 * Fills in the status of ResourceQuotas, which the API server enforces, and recounts when objects are deleted or use less.
 *
 * Additional usage is accounted for by the API server at admission; nothing is counted then.
 */
import {
  evaluatorOf,
  keyOf,
  keyText,
  parseKey,
  persistentVolumeClaims,
  pods,
  readAmounts,
  readQuota,
  resourceQuotas,
  sameAmounts,
  services,
  writeAmounts,
  type Amounts,
  type KubeObject,
  type Resource,
  type ResourceQuota,
} from "#kube";
import type { ChangeHandler, WorkQueue } from "#controller-runtime";
import type { KubeController, KubeControllerContext } from "../context.ts";
import { again, done, passOf, type Pass } from "../work.ts";
import { claimFreesQuota, podFreesQuota, serviceFreesQuota } from "./frees-quota.ts";
import { countedBy, recount } from "./recount.ts";

export const quotaController: KubeController = { name: "resourcequota-controller", start: (context) => new Quotas(context).start() };

/** A pod on a deleted node stops counting without a watch event. */
const RESYNC_MS = 5 * 60_000;

class Quotas {
  readonly #context: KubeControllerContext;
  readonly #queue: WorkQueue;

  constructor(context: KubeControllerContext) {
    this.#context = context;
    this.#queue = context.work({ name: "resourcequotas", pass: (key, signal) => this.#pass(key, signal) });
  }

  start(): void {
    const { informers, clock } = this.#context;
    informers.subscribe(resourceQuotas, ({ key, before, after }) => {
      if (after !== undefined && specChanged(before, after)) this.#queue.add(keyText(key));
    });
    informers.subscribe(
      pods,
      this.#onUpdate(pods, (before, after) => podFreesQuota(before, after, clock.now())),
    );
    informers.subscribe(services, this.#onUpdate(services, serviceFreesQuota));
    informers.subscribe(persistentVolumeClaims, this.#onUpdate(persistentVolumeClaims, claimFreesQuota));
    this.#context.everyKind().subscribe({
      changed: (resource, { key, after }) => {
        if (after === undefined) this.#replenish(resource, key.namespace);
      },
    });
  }

  #onUpdate<T extends KubeObject>(resource: Resource, frees: (before: T, after: T) => boolean): ChangeHandler<T> {
    return ({ key, before, after }) => {
      if (before !== undefined && after !== undefined && frees(before, after)) this.#replenish(resource, key.namespace);
    };
  }

  /** Only quotas that count objects of this kind. */
  #replenish({ group, plural }: Resource, namespace: string | undefined): void {
    if (namespace === undefined) return;
    const evaluator = evaluatorOf(group, plural);
    if (evaluator === undefined) return;
    for (const quota of this.#context.informers.of(resourceQuotas).list(namespace)) {
      const names = [...readQuota(quota).hard.keys()];
      if (names.some((name) => evaluator.tracks(name))) this.#queue.add(keyText(keyOf(quota)));
    }
  }

  async #pass(key: string, signal: AbortSignal): Promise<Pass> {
    const { client, clock } = this.#context;
    const everyKind = this.#context.everyKind();
    await everyKind.ready();
    const found = await client.get(resourceQuotas, parseKey(key), { signal });
    if (!found.ok) return found.error.kind === "not-found" ? done : passOf(found);
    const quota = readQuota(found.value);
    const counted = countedBy(quota, everyKind.discovered.preferred);
    const namespace = found.value.metadata.namespace ?? "";
    const used = await recount(client, quota, counted, { namespace, now: clock.now(), signal });
    if (!used.ok) return passOf(used);
    const isTrue = sameAmounts(quota.wanted, quota.hard) && found.value.status?.used !== undefined && sameAmounts(used.value, quota.used);
    if (isTrue) return again(RESYNC_MS);
    const written = await this.#write(found.value, used.value, signal);
    return written.kind === "done" ? again(RESYNC_MS) : written;
  }

  async #write(quota: ResourceQuota, used: Amounts, signal: AbortSignal): Promise<Pass> {
    const next = { ...quota, status: { hard: { ...quota.spec?.hard }, used: writeAmounts(used) } };
    const written = await this.#context.client.update(resourceQuotas, next, { subresource: "status", signal });
    return !written.ok && written.error.kind === "not-found" ? done : passOf(written);
  }
}

/** The controller's own status writes, and those of the API server's admission, are changes too. */
function specChanged(before: ResourceQuota | undefined, after: ResourceQuota): boolean {
  if (before === undefined || before.metadata.uid !== after.metadata.uid) return true;
  return !sameAmounts(readAmounts(before.spec?.hard), readAmounts(after.spec?.hard));
}
