/**
 * The maximum number of Pods that the workload controllers create. A real cluster is bounded by its nodes, its etcd and the request rate of
 * kube-controller-manager; here all Pods are in the memory of one process, and one object can ask for 2,147,483,647 of them.
 *
 * An owner may have no more Pods than are left in the cluster. One huge workload therefore stops at half of the limit, the next one at half
 * of the rest, and a small one still has room. Ended Pods count until they are deleted; large Pods count several times.
 */
import { err, type Clock, type Result } from "#base";
import type { CacheChange, Informer } from "#controller-runtime";
import { keyOf, pods, type KubeObject, type Pod } from "#kube";
import { failure, type KubeError } from "#kube-client";
import type { KubeControllerContext } from "../../context.ts";
import { controllerOf } from "./owners.ts";

/** An object counts once per started 8 KiB: a thousand Pods of 1 MiB each would be a gigabyte. */
const CHARACTERS_PER_UNIT = 8_192;
/** A created Pod that is not in the cache after this time was deleted unobserved. */
const UNSEEN_MS = 60_000;

type Counted = { readonly owner: string; readonly units: number };
type Unseen = Counted & { readonly at: number };
type Context = Pick<KubeControllerContext, "informers" | "clock" | "podLimit">;

export class PodLimit {
  readonly #limit: number;
  readonly #pods: Informer<Pod>;
  readonly #clock: Clock;
  #total = 0;
  /** Units by the uid of the owner, including those that are being created. */
  readonly #owned = new Map<string, number>();
  /** By the uid of a Pod in the cache. */
  readonly #seen = new Map<string, Counted>();
  /** By the uid of a Pod that was created and is not in the cache yet; oldest first. */
  readonly #unseen = new Map<string, Unseen>();

  constructor({ informers, clock, podLimit }: Context) {
    this.#limit = podLimit;
    this.#clock = clock;
    this.#pods = informers.of(pods);
    informers.subscribe(pods, (change) => this.#follow(change));
  }

  /** Runs `create` for this Pod, unless the owner has reached its limit. */
  async admit(owner: KubeObject, pod: Pod, create: () => Promise<Result<Pod, KubeError>>): Promise<Result<Pod, KubeError>> {
    const counted = { owner: owner.metadata.uid ?? "", units: unitsOf(pod) };
    if (this.#isTooMuch(counted)) return err(this.#refusal("pods", "one owner"));
    this.#add(counted);
    const created = await create();
    if (!created.ok) this.#subtract(counted);
    else this.#await(created.value, counted);
    return created;
  }

  /** An error when the cluster has no room for these claims of one more Pod of the owner; those of its other Pods are as large. */
  refuseClaims(owner: KubeObject, claims: readonly KubeObject[], known: number): KubeError | undefined {
    const units = claims.reduce((sum, claim) => sum + unitsOf(claim), 0);
    const owned = (this.#owned.get(owner.metadata.uid ?? "") ?? 0) * units;
    return Math.max(owned, units) <= this.#limit - known ? undefined : this.#refusal("persistentvolumeclaims of StatefulSets", "one set");
  }

  #isTooMuch({ owner, units }: Counted): boolean {
    const hasRoom = () => (this.#owned.get(owner) ?? 0) + units <= this.#limit - this.#total;
    if (hasRoom()) return false;
    this.#forgetUnseen();
    return !hasRoom();
  }

  #refusal(what: string, owner: string): KubeError {
    const limit = `this cluster is limited to ${this.#limit} ${what} (larger ones count once per 8 KiB), and ${owner} to as many as are left`;
    return failure("forbidden", `exceeded limit: ${limit}; delete some, or raise the limit (lattice api-server --pod-limit)`).error;
  }

  /** It counts as being created until the cache has it. */
  #await(pod: Pod, counted: Counted): void {
    const { uid = "" } = pod.metadata;
    if (this.#pods.get(keyOf(pod))?.metadata.uid === uid) this.#subtract(counted);
    else this.#unseen.set(uid, { ...counted, at: this.#clock.monotonic() });
  }

  #follow({ before, after }: CacheChange<Pod>): void {
    const [was, is] = [before?.metadata.uid, after?.metadata.uid];
    if (was !== undefined && was !== is) this.#forget(was);
    if (after === undefined || is === undefined) return;
    const owner = controllerOf(after)?.uid ?? "";
    const known = this.#seen.get(is);
    if (known?.owner === owner) return;
    if (known !== undefined) this.#subtract(known);
    const counted = { owner, units: known?.units ?? unitsOf(after) };
    this.#seen.set(is, counted);
    this.#add(counted);
    const unseen = this.#unseen.get(is);
    if (unseen !== undefined) this.#see(is, unseen);
  }

  #forget(uid: string): void {
    const known = this.#seen.get(uid);
    if (known === undefined) return;
    this.#seen.delete(uid);
    this.#subtract(known);
  }

  #forgetUnseen(): void {
    const now = this.#clock.monotonic();
    for (const [uid, unseen] of this.#unseen) {
      if (now - unseen.at <= UNSEEN_MS) return;
      this.#see(uid, unseen);
    }
  }

  #see(uid: string, unseen: Unseen): void {
    this.#unseen.delete(uid);
    this.#subtract(unseen);
  }

  #add({ owner, units }: Counted): void {
    this.#total += units;
    this.#owned.set(owner, (this.#owned.get(owner) ?? 0) + units);
  }

  #subtract({ owner, units }: Counted): void {
    this.#total -= units;
    const owned = (this.#owned.get(owner) ?? 0) - units;
    if (owned <= 0) this.#owned.delete(owner);
    else this.#owned.set(owner, owned);
  }
}

function unitsOf(object: KubeObject): number {
  return Math.max(1, Math.ceil(JSON.stringify(object).length / CHARACTERS_PER_UNIT));
}

const limits = new WeakMap<object, PodLimit>();

/** One for all controllers of a cluster. */
export function podLimitOf(context: Context): PodLimit {
  const known = limits.get(context.informers);
  if (known !== undefined) return known;
  const limit = new PodLimit(context);
  limits.set(context.informers, limit);
  return limit;
}
