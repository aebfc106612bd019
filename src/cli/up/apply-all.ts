/** Applies objects to the cluster of `lattice up`. */
import { err, ok, type Result } from "#base";
import type { KubeObject, Resource } from "#kube";
import type { KubeClient } from "#kube-client";

const FIELD_MANAGER = "lattice-up";

export type AppliedObject = { readonly resource: Resource; readonly object: KubeObject };

/** Server-side apply, so that a second start changes nothing. Stops at the first error. */
export async function applyAll(client: KubeClient, all: readonly AppliedObject[]): Promise<Result<void, string>> {
  for (const { resource, object } of all) {
    const answer = await client.apply(resource, object, { fieldManager: FIELD_MANAGER, force: true });
    if (!answer.ok) return err(`${object.kind} ${object.metadata.name} was refused: ${answer.error.message}`);
  }
  return ok(undefined);
}
