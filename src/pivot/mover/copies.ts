/** What the target has under the names of objects: one list for each kind and namespace. */
import { ok } from "#base";
import { groupResourceOf, keyOf, keyText, type KubeObject, type Resource } from "#kube";
import type { MoveNode } from "../graph/object-graph.ts";
import type { ApiSide } from "./api-side.ts";
import { PARALLEL } from "./context.ts";
import type { Moved } from "./failure.ts";
import { inParallel } from "./in-parallel.ts";

export type ExistingCopies = { readonly of: (original: KubeObject) => KubeObject | undefined };

/** A kind that the target does not serve has no objects there. */
export async function listCopies(target: ApiSide, nodes: readonly MoveNode[]): Moved<ExistingCopies> {
  const lists = new Map<string, { readonly resource: Resource; readonly namespace: string | undefined }>();
  for (const { kind, object } of nodes) {
    const namespace = kind.resource.namespaced ? object.metadata.namespace : undefined;
    lists.set(`${groupResourceOf(kind.resource)}/${namespace ?? ""}`, { resource: kind.resource, namespace });
  }
  const listed = await inParallel([...lists.values()], PARALLEL, ({ resource, namespace }) => target.list(resource, { namespace }));
  if (!listed.ok) return listed;
  const found = new Map(listed.value.flat().map((object) => [placeOf(object), object]));
  return ok({ of: (original) => found.get(placeOf(original)) });
}

const placeOf = (object: KubeObject) => `${object.kind}.${object.apiVersion}/${keyText(keyOf(object))}`;
