/**
 * Adds and removes one finalizer, with the resourceVersion as precondition: a merge patch replaces the whole list, and must
 * not add or remove those of other controllers.
 */
import { err, ok, type Result } from "#base";
import { isBeingDeleted, keyOf, type KubeObject, type Resource } from "#kube";
import type { KubeError, KubeReader, KubeWriter } from "#kube-client";

export type FinalizerRequest = {
  readonly client: KubeReader & KubeWriter;
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly finalizer: string;
  readonly signal: AbortSignal;
};

const ATTEMPTS = 5;

export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) === true;
}

/** The object with the finalizer; undefined when it is deleted or terminating without it. */
export function addFinalizer(request: FinalizerRequest): Promise<Result<KubeObject | undefined, KubeError>> {
  return edit(request, (object) => {
    if (isBeingDeleted(object)) return "too late";
    return hasFinalizer(object, request.finalizer) ? "as wanted" : [...(object.metadata.finalizers ?? []), request.finalizer];
  });
}

export function removeFinalizer(request: FinalizerRequest): Promise<Result<KubeObject | undefined, KubeError>> {
  return edit(request, (object) => {
    const rest = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== request.finalizer);
    return hasFinalizer(object, request.finalizer) ? rest : "as wanted";
  });
}

type Edit = (object: KubeObject) => readonly string[] | "as wanted" | "too late";

async function edit(request: FinalizerRequest, change: Edit): Promise<Result<KubeObject | undefined, KubeError>> {
  const { client, resource, signal } = request;
  const key = keyOf(request.object);
  let live = request.object;
  for (let attempt = 1; ; attempt += 1) {
    const finalizers = change(live);
    if (finalizers === "too late") return ok(undefined);
    if (finalizers === "as wanted") return ok(live);
    const patch = { metadata: { resourceVersion: live.metadata.resourceVersion, finalizers } };
    const answer = await client.patch<KubeObject>(resource, key, { type: "merge", patch }, { signal });
    if (answer.ok) return answer;
    if (answer.error.kind === "not-found") return ok(undefined);
    if (answer.error.kind !== "conflict" || attempt >= ATTEMPTS) return answer;
    const newest = await client.get<KubeObject>(resource, key, { signal });
    if (!newest.ok) return newest.error.kind === "not-found" ? ok(undefined) : err(newest.error);
    // the same name, but another object: ours is deleted
    if (newest.value.metadata.uid !== request.object.metadata.uid) return ok(undefined);
    live = newest.value;
  }
}
