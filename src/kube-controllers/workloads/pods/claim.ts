/**
 * Adoption and release: every controller adopts orphans that its selector matches, and releases its own that no longer match.
 *
 * Before the first adoption the owner is read from the server, not from the cache: an owner that has just been deleted would otherwise
 * adopt what the garbage collector is about to orphan.
 */
import { err, ok, type Result } from "#base";
import { keyOf, keyText, matches, type Json, type KubeObject, type Requirement, type Resource } from "#kube";
import type { KubeClient, KubeError } from "#kube-client";
import { controllerOf, controllerReference, isControlledBy } from "./owners.ts";

export type PodClaimant<T extends KubeObject> = {
  readonly client: KubeClient;
  readonly owner: KubeObject;
  readonly ownerResource: Resource;
  readonly resource: Resource<T>;
  readonly selector: readonly Requirement[];
  /** In addition to the selector: a StatefulSet adopts only Pods with its names. */
  readonly accepts?: (object: T) => boolean;
  /** Added to adopted objects, removed from released ones. */
  readonly finalizer?: string;
};

/** The `candidates` that belong to the owner now. One that cannot be claimed fails the pass, after the others were tried. */
export async function claim<T extends KubeObject>(
  claimant: PodClaimant<T>,
  candidates: readonly T[],
): Promise<Result<readonly T[], KubeError>> {
  const mayAdopt = once(() => recheck(claimant));
  const claimed: T[] = [];
  let failed: KubeError | undefined;
  for (const object of candidates) {
    if (isClaimed(claimant, object)) {
      claimed.push(object);
      continue;
    }
    const answer = await claimOne(claimant, object, mayAdopt);
    if (!answer.ok) failed = answer.error;
    else if (answer.value !== undefined) claimed.push(answer.value);
  }
  return failed === undefined ? ok(claimed) : err(failed);
}

type MayAdopt = () => Promise<Result<void, KubeError>>;

/** Most objects already belong to the owner: these are claimed synchronously. */
function isClaimed<T extends KubeObject>({ owner, selector, accepts }: PodClaimant<T>, object: T): boolean {
  return isControlledBy(object, owner) && matches(selector, object.metadata.labels) && (accepts?.(object) ?? true);
}

async function claimOne<T extends KubeObject>(
  claimant: PodClaimant<T>,
  object: T,
  mayAdopt: MayAdopt,
): Promise<Result<T | undefined, KubeError>> {
  const { owner, selector, accepts } = claimant;
  const controller = controllerOf(object);
  if (controller !== undefined && controller.uid !== owner.metadata.uid) return ok(undefined);
  const wanted = matches(selector, object.metadata.labels) && (accepts?.(object) ?? true);
  if (controller !== undefined) return owner.metadata.deletionTimestamp === undefined ? release(claimant, object) : ok(undefined);
  if (!wanted || owner.metadata.deletionTimestamp !== undefined || object.metadata.deletionTimestamp !== undefined) return ok(undefined);
  const allowed = await mayAdopt();
  return allowed.ok ? adopt(claimant, object) : allowed;
}

async function recheck<T extends KubeObject>({ client, owner, ownerResource }: PodClaimant<T>): Promise<Result<void, KubeError>> {
  const fresh = await client.get(ownerResource, keyOf(owner));
  if (!fresh.ok) return fresh;
  const ownerText = `${ownerResource.kind} ${keyText(keyOf(owner))}`;
  if (fresh.value.metadata.uid !== owner.metadata.uid) return err({ kind: "conflict", message: `original ${ownerText} is gone` });
  if (fresh.value.metadata.deletionTimestamp === undefined) return ok(undefined);
  return err({ kind: "conflict", message: `${ownerText} has just been deleted` });
}

async function adopt<T extends KubeObject>(claimant: PodClaimant<T>, object: T): Promise<Result<T | undefined, KubeError>> {
  const { client, owner, ownerResource, resource, finalizer } = claimant;
  const reference = controllerReference(owner, ownerResource);
  const metadata: Json = {
    uid: object.metadata.uid,
    ownerReferences: [{ ...reference }],
    ...(finalizer === undefined ? {} : { finalizers: [finalizer] }),
  };
  const patched = await client.patch(resource, keyOf(object), { type: "strategic", patch: { metadata } });
  return patched.ok || patched.error.kind !== "not-found" ? patched : ok(undefined);
}

/** Already deleted, or adopted by another owner (`invalid`: the uid in the patch differs): it does not belong to this owner. */
async function release<T extends KubeObject>(claimant: PodClaimant<T>, object: T): Promise<Result<undefined, KubeError>> {
  const { client, owner, resource, finalizer } = claimant;
  const metadata: Json = {
    uid: object.metadata.uid,
    ownerReferences: [{ $patch: "delete", uid: owner.metadata.uid }],
    ...(finalizer === undefined ? {} : { "$deleteFromPrimitiveList/finalizers": [finalizer] }),
  };
  const patched = await client.patch(resource, keyOf(object), { type: "strategic", patch: { metadata } });
  if (patched.ok || patched.error.kind === "not-found" || patched.error.kind === "invalid") return ok(undefined);
  return patched;
}

function once<T>(run: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => (answer ??= run());
}
