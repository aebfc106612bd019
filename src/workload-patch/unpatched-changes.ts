/**
 * A quick answer to whether a write changes fields that are no part of the patch. Most upgrades do, and then no conflict is counted: the comparison
 * of both Deployments with the patch, which takes most of the time of a review, is not needed.
 */
import { field, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { sameButForPatch } from "./conflicts.ts";
import { SERVICE_LABEL } from "./merge-patch.ts";
import { jsonOf } from "./owner-object.ts";
import { PATCHED_LABEL, type PatchedField } from "./patch-record.ts";
import type { WorkloadPatch } from "./workload-patch.ts";

export type DeploymentWrite = { readonly deployment: KubeObject; readonly previous: KubeObject };

/** false: not known, it can be in the pod template. */
export function changesUnpatched(
  { deployment, previous }: DeploymentWrite,
  patch: WorkloadPatch,
  recorded: ReadonlyMap<string, PatchedField>,
): boolean {
  const names = patchedNames(patch, recorded);
  if (names === undefined) return false;
  return !sameButForPatch(unpatched(jsonOf(deployment), names), unpatched(jsonOf(previous), names));
}

/** The fields directly below `metadata.labels`, `metadata.annotations` and `spec` that the patch or the record can change. */
type PatchedNames = { readonly labels: ReadonlySet<string>; readonly annotations: ReadonlySet<string>; readonly spec: ReadonlySet<string> };

/** undefined: the record changes all of them, which only an edited one does. */
function patchedNames({ patch }: WorkloadPatch, recorded: ReadonlyMap<string, PatchedField>): PatchedNames | undefined {
  const metadata = field(patch, "metadata");
  const names = {
    labels: new Set([SERVICE_LABEL, PATCHED_LABEL, ...fieldNames(field(metadata, "labels"))]),
    annotations: new Set(fieldNames(field(metadata, "annotations"))),
    spec: new Set(["template", ...fieldNames(field(patch, "spec"))]),
  };
  for (const { path, created } of recorded.values()) {
    const [root, map, name] = path;
    if (root !== "metadata" || (map !== "labels" && map !== "annotations")) continue;
    if (typeof name === "string") names[map].add(name);
    else if (created !== true) return undefined;
  }
  return names;
}

function fieldNames(value: Json | undefined): readonly string[] {
  return isJsonObject(value) ? Object.keys(value) : [];
}

function unpatched(deployment: JsonObject, { labels, annotations, spec }: PatchedNames): JsonObject {
  const metadata = field(deployment, "metadata");
  return {
    metadata: { labels: without(field(metadata, "labels"), labels), annotations: without(field(metadata, "annotations"), annotations) },
    spec: without(field(deployment, "spec"), spec),
  };
}

function without(value: Json | undefined, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(isJsonObject(value) ? value : {}).filter(([name]) => !names.has(name)));
}
