/** Creates, repairs and deletes the Pods of a StatefulSet and their claims, and records events on the set. */
import { err, ok, type Result } from "#base";
import type { EventNote, Informer } from "#controller-runtime";
import { keyOf, keyText, persistentVolumeClaims, pods, type PersistentVolumeClaim, type Pod, type StatefulSet } from "#kube";
import { failure, type KubeClient, type KubeError } from "#kube-client";
import type { Expectations } from "../pods/expectations.ts";
import type { PodLimit } from "../pods/pod-limit.ts";
import { claimsFor, hasIdentity, hasStorage, ordinalOf, withIdentity, withStorage } from "./identity.ts";
import { hasForeignController, hasStaleOwner, ownersAreRight, withRightOwners } from "./retention.ts";

type Answer = Promise<Result<void, KubeError>>;

export type PodKeeperOptions = {
  readonly client: KubeClient;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly record: (note: EventNote) => void;
  readonly expectations: Expectations;
  readonly limit: PodLimit;
};

export class PodKeeper {
  readonly #client: KubeClient;
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #record: (note: EventNote) => void;
  readonly #expectations: Expectations;
  readonly #limit: PodLimit;

  constructor({ client, claims, record, expectations, limit }: PodKeeperOptions) {
    this.#client = client;
    this.#claims = claims;
    this.#record = record;
    this.#expectations = expectations;
    this.#limit = limit;
  }

  async create(set: StatefulSet, pod: Pod): Answer {
    const created = await this.#limit.admit(set, pod, () => this.#createWithClaims(set, pod));
    // another Pod has the name; when it is deleted or adopted, there is a next pass
    if (!created.ok && created.error.kind === "already-exists") return created;
    if (created.ok) {
      const owned = await this.setClaimOwners(set, created.value);
      if (!owned.ok) return this.#recorded("update", set, pod, owned);
    }
    return this.#recorded("create", set, pod, created);
  }

  async #createWithClaims(set: StatefulSet, pod: Pod): Promise<Result<Pod, KubeError>> {
    const claimed = await this.createClaims(set, pod);
    if (!claimed.ok) return claimed;
    const owner = keyText(keyOf(set));
    this.#expectations.expectCreations(owner, 1);
    const created = await this.#client.create(pods, pod);
    if (!created.ok) this.#expectations.created(owner);
    return created;
  }

  /** Restores changed labels and volumes. Volumes of a Pod cannot be changed; the server refuses the update. */
  async mend(set: StatefulSet, pod: Pod): Answer {
    const named = hasIdentity(set, pod) ? pod : withIdentity(set, pod);
    const stored = hasStorage(set, named) ? named : withStorage(set, named);
    if (stored !== named) {
      const claimed = await this.createClaims(set, pod);
      if (!claimed.ok) return this.#recorded("update", set, pod, claimed);
    }
    if (!this.claimOwnersAreRight(set, pod)) {
      const owned = await this.setClaimOwners(set, pod);
      if (!owned.ok) return this.#recorded("update", set, pod, owned);
    }
    return stored === pod ? ok(undefined) : this.#recorded("update", set, pod, await this.#client.update(pods, stored));
  }

  async remove(set: StatefulSet, pod: Pod): Answer {
    const [owner, key] = [keyText(keyOf(set)), keyText(keyOf(pod))];
    this.#expectations.expectDeletions(owner, [key]);
    const deleted = await this.#client.delete(pods, keyOf(pod));
    if (!deleted.ok || !deleted.value) this.#expectations.deleted(owner, key);
    return this.#recorded("delete", set, pod, deleted);
  }

  async createMissingClaims(set: StatefulSet, pod: Pod): Answer {
    const created = await this.createClaims(set, pod);
    return created.ok ? this.setClaimOwners(set, pod) : created;
  }

  async createClaims(set: StatefulSet, pod: Pod): Answer {
    const wanted = claimsFor(set, ordinalOf(pod));
    let first = this.#refuseClaims(set, wanted);
    for (const claim of wanted) {
      const known = this.#claims.get(keyOf(claim));
      if (known === undefined) first ??= await this.#createClaim(set, pod, claim);
      else if (known.metadata.deletionTimestamp !== undefined)
        first ??= failure("conflict", `pvc ${claim.metadata.name} is being deleted`).error;
    }
    return first === undefined ? ok(undefined) : err(first);
  }

  #refuseClaims(set: StatefulSet, wanted: readonly PersistentVolumeClaim[]): KubeError | undefined {
    const isComplete = wanted.every((claim) => this.#claims.get(keyOf(claim)) !== undefined);
    return isComplete ? undefined : this.#limit.refuseClaims(set, wanted, this.#claims.health().objects);
  }

  claimOwnersAreRight(set: StatefulSet, pod: Pod): boolean {
    return this.#known(set, pod).every((claim) => ownersAreRight(claim, set, pod));
  }

  async setClaimOwners(set: StatefulSet, pod: Pod): Answer {
    for (const claim of this.#known(set, pod)) {
      const { name } = claim.metadata;
      if (hasForeignController(claim, set, pod)) {
        const note = `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`;
        this.#record({ regarding: set, type: "Warning", reason: "ConflictingController", note });
      }
      if (ownersAreRight(claim, set, pod)) continue;
      const updated = await this.#client.update(persistentVolumeClaims, withRightOwners(claim, set, pod));
      if (!updated.ok)
        return err({ ...updated.error, message: `could not update claim ${name} for delete policy ownerRefs: ${updated.error.message}` });
    }
    return ok(undefined);
  }

  /** A claim that still belongs to a deleted Pod of the same name will be garbage collected; a new Pod must not use it. */
  waitsForClaims(set: StatefulSet, pod: Pod): boolean {
    if (set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled !== "Delete") return false;
    return this.#known(set, pod).some((claim) => hasStaleOwner(claim, pod, pods));
  }

  #known(set: StatefulSet, pod: Pod): readonly PersistentVolumeClaim[] {
    return claimsFor(set, ordinalOf(pod)).flatMap((claim) => this.#claims.get(keyOf(claim)) ?? []);
  }

  async #createClaim(set: StatefulSet, pod: Pod, claim: PersistentVolumeClaim): Promise<KubeError | undefined> {
    const created = await this.#client.create(persistentVolumeClaims, claim);
    const about = `Claim ${claim.metadata.name} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
    if (created.ok) {
      this.#record({ regarding: set, type: "Normal", reason: "SuccessfulCreate", note: `Create ${about} success` });
      return undefined;
    }
    if (created.error.kind === "already-exists") return undefined;
    const failed = about.replace(" Pod ", " for Pod ");
    this.#record({
      regarding: set,
      type: "Warning",
      reason: "FailedCreate",
      note: `Create ${failed} failed error: ${created.error.message}`,
    });
    return { ...created.error, message: `failed to create PVC ${claim.metadata.name}: ${created.error.message}` };
  }

  #recorded(verb: "create" | "update" | "delete", set: StatefulSet, pod: Pod, answer: Result<unknown, KubeError>): Result<void, KubeError> {
    const title = `${verb.slice(0, 1).toUpperCase()}${verb.slice(1)}`;
    const about = `${title} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
    if (answer.ok) {
      this.#record({ regarding: set, type: "Normal", reason: `Successful${title}`, note: `${about} successful` });
      return ok(undefined);
    }
    this.#record({ regarding: set, type: "Warning", reason: `Failed${title}`, note: `${about} failed error: ${answer.error.message}` });
    return answer;
  }
}
