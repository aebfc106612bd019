/**
 * A merge patch that removes fields of other clients from one of our objects.
 *
 * Server-side apply does not remove them: of `spec: {}` our field manager owns nothing. In access objects (policies, routes) all fields except
 * metadata are ours. In other objects only fields that would exclude them from the mesh are removed: labels and annotations that Istio and Cilium
 * read, and hostNetwork. Any other field may belong to an autoscaler, an injector or a user.
 *
 * Defaults of the API server look like additions. The patch then changes nothing, and is not sent again.
 */
import { field, fieldAt, isJsonObject, jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";

/** Names that Istio and Cilium read: a dry run, another revision, another data plane, another waypoint. */
const READ_BY_THE_MESH = /^(?:[a-z0-9.-]+\.)?(?:istio|cilium)\.io\//;
/** Written by Istio itself, on Gateways. */
const WRITTEN_BY_THE_MESH: ReadonlySet<string> = new Set(["gateway.istio.io/controller-version"]);
const NOT_COMPARED: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "status"]);

/** `whole`: only metadata and status may have fields of other clients. undefined: nothing to remove. */
export function removalOfForeign(wanted: KubeObject, live: KubeObject, whole: boolean): JsonObject | undefined {
  const patch: Record<string, Json> = {};
  const metadata = meshMetadata(field(wanted, "metadata"), field(live, "metadata"));
  if (metadata !== undefined) patch["metadata"] = metadata;
  const template = whole ? undefined : templateDifference(wanted, live);
  if (template !== undefined) patch["spec"] = { template };
  const whatDiffers = whole ? { ...patch, ...bodyDifference(wanted, live) } : patch;
  return Object.keys(whatDiffers).length === 0 ? undefined : whatDiffers;
}

function bodyDifference(wanted: KubeObject, live: KubeObject): JsonObject {
  return differences(wanted, live, (name) => !NOT_COMPARED.has(name));
}

/** By `fromEntries`: another client may add a key `__proto__`, and an assignment to it would be lost. */
function differences(wanted: object, live: object, isCompared: (name: string) => boolean = () => true): JsonObject {
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(live)])].filter(isCompared);
  const entries = names.map((name) => [name, difference(field(wanted, name), field(live, name))] as const);
  return Object.fromEntries(entries.flatMap(([name, part]) => (part === undefined ? [] : [[name, part] as const])));
}

/** The merge patch from live to wanted; undefined: none is needed. */
function difference(wanted: Json | undefined, live: Json | undefined): Json | undefined {
  if (wanted === undefined) return live === undefined ? undefined : null;
  if (!isJsonObject(wanted) || !isJsonObject(live)) return live !== undefined && jsonEqual(wanted, live) ? undefined : wanted;
  const parts = differences(wanted, live);
  return Object.keys(parts).length === 0 ? undefined : parts;
}

function meshMetadata(wanted: Json | undefined, live: Json | undefined): JsonObject | undefined {
  const parts: Record<string, Json> = {};
  for (const map of ["labels", "annotations"]) {
    const [ours, all] = [field(wanted, map), field(live, map)];
    const foreign = Object.keys(isJsonObject(all) ? all : {}).filter((name) => isForeign(name, ours));
    if (foreign.length > 0) parts[map] = Object.fromEntries(foreign.map((name) => [name, null]));
  }
  return Object.keys(parts).length === 0 ? undefined : parts;
}

function isForeign(name: string, ours: Json | undefined): boolean {
  return READ_BY_THE_MESH.test(name) && !WRITTEN_BY_THE_MESH.has(name) && field(ours, name) === undefined;
}

/** Fields of pods that exclude them from the mesh or from network policies. */
function templateDifference(wanted: KubeObject, live: KubeObject): JsonObject | undefined {
  const [ours, all] = [fieldAt(wanted, "spec", "template"), fieldAt(live, "spec", "template")];
  if (!isJsonObject(ours) || !isJsonObject(all)) return undefined;
  const metadata = meshMetadata(field(ours, "metadata"), field(all, "metadata"));
  const onNode = fieldAt(all, "spec", "hostNetwork") === true && fieldAt(ours, "spec", "hostNetwork") !== true;
  if (metadata === undefined && !onNode) return undefined;
  return { ...(metadata === undefined ? {} : { metadata }), ...(onNode ? { spec: { hostNetwork: null } } : {}) };
}

const MAX_NAMED = 5;
const LONGEST_NAME = 64;

/** "spec.rules, metadata.annotations.istio.io/dry-run": the fields of a patch. */
export function describeFields(patch: JsonObject): string {
  const names = Object.entries(patch).flatMap(([section, part]) =>
    isJsonObject(part) && Object.keys(part).length > 0
      ? Object.keys(part).map((name) => `${section}.${name}${below(part[name])}`)
      : [section],
  );
  const shown = names.slice(0, MAX_NAMED).map((name) => name.slice(0, LONGEST_NAME));
  return names.length > MAX_NAMED ? `${shown.join(", ")} and ${names.length - MAX_NAMED} more` : shown.join(", ");
}

/** Labels and annotations are identified by name. */
function below(part: Json | undefined): string {
  const [only, ...more] = isJsonObject(part) ? Object.keys(part) : [];
  return only === undefined || more.length > 0 ? "" : `.${only}`;
}
