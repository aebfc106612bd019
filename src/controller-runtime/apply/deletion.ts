/**
 * Deletes all objects of an owner in the controller's own order, wave by wave. A wave starts when the objects of the one before are gone from
 * the server, not when their deletion was accepted: a Cluster needs its infrastructure until its own finalizer is removed.
 *
 * Nothing is remembered between passes. Each pass asks the server what is left, so a crash at any step changes neither order nor result.
 */
import { describeObject, isBeingDeleted, keyOf, type Resource } from "#kube";
import type { KubeWriter } from "#kube-client";
import { failed, settled, stalled, waiting, type ReconcileOutcome } from "../outcome.ts";
import { idOf, type ApplyOwner } from "../identity.ts";
import type { DeletingObject, DeletionProgress, ObjectResult } from "./change-set.ts";
import { inParallel } from "./in-parallel.ts";
import { preconditionsOf, type Inventory, type InventoryObject } from "./inventory.ts";
import type { AppliedMemory } from "./memory.ts";
import { failureOf } from "./refusal.ts";
import type { ApplyOrder } from "./waves.ts";

/** How the objects of an owner are deleted, as data. */
export type DeletionOrder = {
  /** Kinds, wave by wave. Kinds that are not listed come last, together. */
  readonly order: ApplyOrder;
  /** From when on an object that is still there is reported as stuck; 10 minutes. */
  readonly stuckAfterMs?: number;
};

export type OrderedDeletionOptions = {
  readonly client: KubeWriter;
  readonly inventory: Inventory;
  readonly resources: readonly Resource[];
  readonly parallel: number;
  readonly memory: AppliedMemory;
};

export type DeletionResult = { readonly results: readonly ObjectResult[]; readonly progress: DeletionProgress | undefined };

/** An object that changes between list and deletion is listed again; after that the next pass continues. */
const MAX_ROUNDS = 3;

export class OrderedDeletion {
  readonly #options: OrderedDeletionOptions;

  constructor(options: OrderedDeletionOptions) {
    this.#options = options;
  }

  /** `progress` is absent when nothing is left. */
  async advance(owner: ApplyOwner, { order }: DeletionOrder, signal: AbortSignal): Promise<DeletionResult> {
    const waves = wavesOfKinds(this.#options.resources, order);
    const results: ObjectResult[] = [];
    for (const [index, wave] of waves.entries()) {
      const { did, left } = await this.#wave(wave, owner, signal);
      results.push(...did);
      if (left.length === 0 && !did.some((result) => result.did === "failed")) continue;
      const waitsFor = left.map(({ object }) => ({
        object: describeObject(object),
        deletedAt: object.metadata.deletionTimestamp,
        finalizers: object.metadata.finalizers ?? [],
      }));
      return { results, progress: { wave: index + 1, waves: waves.length, waitsFor } };
    }
    return { results, progress: undefined };
  }

  async #wave(resources: readonly Resource[], owner: ApplyOwner, signal: AbortSignal): Promise<WaveResult> {
    const did: ObjectResult[] = [];
    let left: readonly InventoryObject[] = [];
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const listed = await this.#options.inventory.ownedBy(owner, resources, signal);
      if (!listed.ok) return { did: [...did, { did: "failed", failure: listed.error }], left };
      left = listed.value;
      const open = left.filter(({ object }) => !isBeingDeleted(object));
      if (open.length === 0) break;
      const answers = await inParallel(open, this.#options.parallel, (one) => this.#deleteOne(one, signal));
      did.push(...answers.flatMap((answer) => answer ?? []));
      if (did.some((result) => result.did === "failed")) break;
    }
    return { did, left };
  }

  /** Undefined: it was gone, or it was changed or replaced meanwhile and is listed again. */
  async #deleteOne({ resource, object }: InventoryObject, signal: AbortSignal): Promise<ObjectResult | undefined> {
    const options = { preconditions: preconditionsOf(object), propagation: "Background" as const, signal };
    const gone = await this.#options.client.delete(resource, keyOf(object), options);
    if (!gone.ok) return gone.error.kind === "conflict" ? undefined : { did: "failed", failure: failureOf(object, gone.error) };
    this.#options.memory.forget(idOf(object));
    return gone.value ? { did: "pruned", object: describeObject(object) } : undefined;
  }
}

type WaveResult = { readonly did: readonly ObjectResult[]; readonly left: readonly InventoryObject[] };

/** The owned kinds in the order of the table; waves without an owned kind are left out. */
function wavesOfKinds(resources: readonly Resource[], order: ApplyOrder): readonly (readonly Resource[])[] {
  const listed = new Set(order.flat());
  const waves = order.map((kinds) => resources.filter(({ kind }) => kinds.includes(kind)));
  return [...waves, resources.filter(({ kind }) => !listed.has(kind))].filter((wave) => wave.length > 0);
}

const STUCK_AFTER_MS = 600_000;
/** Deletions are watched; this is for an event that was missed. */
const RECHECK_MS = 15_000;
const RECHECK_STUCK_MS = 60_000;
const SHOWN = 3;
const SHOWN_FINALIZERS = 5;

/** Waiting while objects are being deleted; stalled when one of them is still there long after its deletion. */
export function outcomeOfDeletion(progress: DeletionProgress | undefined, now: number, stuckAfterMs = STUCK_AFTER_MS): ReconcileOutcome {
  if (progress === undefined) return settled;
  if (progress === "owner-changed") return failed({ kind: "conflict", message: "the object changed while its objects were being deleted" });
  const { wave, waves, waitsFor } = progress;
  const isStuck = ({ deletedAt }: DeletingObject) => deletedAt !== undefined && now - Date.parse(deletedAt) >= stuckAfterMs;
  const stuck = waitsFor.filter(isStuck);
  if (stuck.length === 0)
    return waiting("TearingDown", RECHECK_MS, `wave ${wave} of ${waves}: waiting for the deletion of ${named(waitsFor)}`);
  const message = `wave ${wave} of ${waves}: still there long after its deletion: ${named(stuck)}; the controller that set a finalizer must remove it`;
  return stalled("DeletionStuck", message, RECHECK_STUCK_MS);
}

/** The text has no durations: it is written into the status, and must not change while nothing changes. */
function named(objects: readonly DeletingObject[]): string {
  const shown = objects.slice(0, SHOWN).map(({ object, deletedAt, finalizers }) => {
    const since = deletedAt === undefined ? "" : `deleted at ${deletedAt}`;
    const held = finalizers.length === 0 ? "" : `finalizers: ${listed(finalizers.slice(0, SHOWN_FINALIZERS), finalizers.length)}`;
    const notes = [since, held].filter((note) => note !== "");
    return notes.length === 0 ? object : `${object} (${notes.join("; ")})`;
  });
  return listed(shown, objects.length);
}

/** Other clients choose finalizers, and the message of a condition is limited. */
function listed(shown: readonly string[], count: number): string {
  return count > shown.length ? `${shown.join(", ")} and ${count - shown.length} more` : shown.join(", ");
}
