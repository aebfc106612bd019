/** One workload patch on the owner's Deployment: its environment variables, then the rest. */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { misfits } from "./fitting.ts";
import { routeInitContainers } from "./init-containers.ts";
import { change, isList, mergeObject, replaced, type MergedField, type Merging } from "./merge.ts";
import { mergeOverrides } from "./merge-overrides.ts";
import type { SkippedField } from "./outcomes.ts";
import { lastIndexOf, withField, withValueAt, type PatchedPath } from "./patched-path.ts";
import { CONTAINER_LISTS, DEPLOYMENT } from "./shapes.ts";
import type { WorkloadPatch } from "./workload-patch.ts";

/** The label of a Deployment and of its pods that names the service. */
export const SERVICE_LABEL = "lattice.dev/service";

export type MergedPatch = {
  readonly object: JsonObject;
  readonly fields: readonly MergedField[];
  readonly missing: readonly string[];
  readonly skipped: Merging["skipped"];
};

/** Without fields that do not fit the Deployment. Each round leaves out some of them; almost always the first has none. */
export function mergeWorkloadPatch(base: JsonObject, patch: WorkloadPatch, isGivenUp: Merging["isGivenUp"]): MergedPatch {
  const skipped: SkippedField[] = [];
  let wanted: Json = routeInitContainers(base, patch.patch, { skipped });
  for (;;) {
    const routed = { ...patch, patch: isJsonObject(wanted) ? wanted : {} };
    const merged = mergeFields(base, routed, isGivenUp);
    const unfit = misfits({ owner: base, merged: merged.object, wanted: routed.patch });
    if (unfit.length === 0) return { ...merged, skipped: [...skipped, ...merged.skipped] };
    skipped.push(...unfit);
    for (const { path } of unfit) wanted = withValueAt(wanted, path, undefined);
  }
}

function mergeFields(base: JsonObject, patch: WorkloadPatch, isGivenUp: Merging["isGivenUp"]): MergedPatch {
  const merging: Merging = { fields: [], missing: new Set(), skipped: [], isGivenUp };
  const labels = { [SERVICE_LABEL]: serviceName(patch) };
  const labelled = mergeObject(base, { metadata: { labels }, spec: { template: { metadata: { labels } } } }, ROOT, merging);
  const withVariables = mergeVariables(labelled, patch, merging);
  const object = mergeObject(withVariables, patch.patch, ROOT, merging);
  return { object, fields: merging.fields, missing: [...merging.missing].toSorted(), skipped: merging.skipped };
}

const ROOT = { path: [], shape: DEPLOYMENT } as const;

function serviceName({ service }: WorkloadPatch): string {
  return service.slice(service.indexOf("/") + 1);
}

/** Before the patch itself: whether a variable is in `env` is asked of the owner's list. */
function mergeVariables(deployment: JsonObject, patch: WorkloadPatch, merging: Merging): JsonObject {
  let result = deployment;
  for (const name of new Set([...Object.keys(patch.envFrom), ...Object.keys(patch.variables)].toSorted())) {
    const merged = inContainer(result, name, (container, path) => {
      const variables = field(patch.variables, name);
      const listed = field(patch.envFrom, name);
      const sources = isList(listed) ? listed : [];
      const env = mergeOverrides(container, { variables: isJsonObject(variables) ? variables : {}, sources }, path, merging);
      return mergeEnvFrom(env, sources, path, merging);
    });
    if (merged === undefined) merging.missing.add(name);
    else result = merged;
  }
  return result;
}

/** undefined: no such container. */
function inContainer(deployment: JsonObject, name: string, merge: (container: JsonObject, path: PatchedPath) => JsonObject) {
  const [spec, template] = [field(deployment, "spec"), field(field(deployment, "spec"), "template")];
  const pod = field(template, "spec");
  if (!isJsonObject(spec) || !isJsonObject(template) || !isJsonObject(pod)) return undefined;
  for (const list of CONTAINER_LISTS) {
    const containers = field(pod, list);
    if (!isList(containers)) continue;
    const step = { key: { name } };
    const index = lastIndexOf(containers, step);
    const container = containers[index];
    if (!isJsonObject(container)) continue;
    const merged = replaced(containers, index, merge(container, ["spec", "template", "spec", list, step]));
    if (merged === containers) return deployment;
    return withField(deployment, "spec", withField(spec, "template", withField(template, "spec", withField(pod, list, merged))));
  }
  return undefined;
}

/** Appended: of two sources with one variable, the last wins. */
function mergeEnvFrom(container: JsonObject, sources: readonly Json[], path: PatchedPath, merging: Merging): JsonObject {
  const now = field(container, "envFrom");
  const list = isList(now) ? now : [];
  const { length } = merging.fields;
  const added = sources.flatMap((value) => {
    if (lastIndexOf(list, { value }) >= 0) return [];
    const next = change(undefined, value, [...path, "envFrom", { value }], merging);
    return next === undefined ? [] : [next];
  });
  if (added.length === 0) return container;
  if (!isList(now)) {
    merging.fields.splice(length, 0, { path: [...path, "envFrom"], ...(now === undefined ? {} : { before: now }), created: true });
  }
  return withField(container, "envFrom", [...list, ...added]);
}
