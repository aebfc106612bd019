/** The tools that write Deployments, as functions from the live object to the object of the request. */
import { expectOk } from "#base";
import { field, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { applyStrategicMergePatch, builtinSchema, createThreeWayStrategicPatch, type PatchSchema } from "#patch";

/** What a tool sends when its manifest changes from `from` to `to`. */
export type OwnerTool = (live: KubeObject, from: KubeObject, to: KubeObject) => KubeObject;

/** `kubectl apply` on the client, and helm 3: a strategic merge patch of three objects. */
export const clientSideApply: OwnerTool = (live, from, to) => {
  const schema = deploymentSchema();
  const patch = createThreeWayStrategicPatch({ original: json(from), modified: json(to), current: json(live) }, schema, {
    overwrite: true,
  });
  return withoutNulls(expectOk(applyStrategicMergePatch(json(live), expectOk(patch), schema))) as unknown as KubeObject;
};

/** A server decodes null as absent: it stays in an element of a patch that the live list does not have. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).flatMap(([name, inner]) =>
    inner === null || inner === undefined ? [] : [[name, withoutNulls(inner)]],
  );
  return Object.fromEntries(entries) as JsonObject;
}

/** `kubectl replace`: the manifest is the object. */
export const replaceObject: OwnerTool = (live, _, to) => ({ ...to, metadata: { ...to.metadata, ...identity(live) } });

/** An operator that sets the spec of the object it read. */
export const replaceSpec: OwnerTool = (live, _, to) => ({ ...live, spec: field(to, "spec") }) as KubeObject;

/** Server-side apply: the fields of the manifest are set, those that it no longer has are removed, all others stay. */
export const serverSideApply: OwnerTool = (live, from, to) => mergeApplied(json(live), json(from), json(to)) as unknown as KubeObject;

export const OWNER_TOOLS = { clientSideApply, replaceObject, replaceSpec, serverSideApply } as const;

function mergeApplied(live: JsonObject, from: JsonObject, to: JsonObject): JsonObject {
  const removed = new Set(Object.keys(from).filter((name) => field(to, name) === undefined));
  const names = new Set([...Object.keys(live), ...Object.keys(to)]);
  const entries = [...names].flatMap((name): [string, Json][] => {
    const [is, was, wanted] = [field(live, name), field(from, name), field(to, name)];
    const value = wanted === undefined ? withoutApplied(name, is, was, removed.has(name)) : mergedValue(name, is, was, wanted);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

/** Of a map or list that is no longer applied, only what was applied is removed. */
function withoutApplied(name: string, is: Json | undefined, was: Json | undefined, removed: boolean): Json | undefined {
  if (!removed) return is;
  if (Array.isArray(is) && !KEYS.has(name)) return undefined;
  const rest = isJsonObject(is) && isJsonObject(was) ? mergeApplied(is, was, {}) : mergeKeyed(is, was, [], KEYS.get(name));
  return rest === undefined || Object.keys(rest as object).length === 0 ? undefined : rest;
}

const KEYS: ReadonlyMap<string, string> = new Map([["containers", "name"], ["initContainers", "name"], ["env", "name"], ["ports", "containerPort"], ["volumes", "name"], ["volumeMounts", "mountPath"]]); // prettier-ignore

function mergedValue(name: string, is: Json | undefined, was: Json | undefined, wanted: Json): Json {
  if (isJsonObject(wanted)) return mergeApplied(isJsonObject(is) ? is : {}, isJsonObject(was) ? was : {}, wanted);
  if (!Array.isArray(wanted) || !KEYS.has(name)) return wanted;
  return mergeKeyed(is, was, wanted as readonly Json[], KEYS.get(name)) ?? wanted;
}

/** Elements of the manifest in its order; elements of others after those they follow now. */
function mergeKeyed(is: Json | undefined, was: Json | undefined, wanted: readonly Json[], by?: string): Json | undefined {
  if (!Array.isArray(is)) return wanted.length === 0 ? undefined : wanted;
  const key = (element: Json) => JSON.stringify(field(element, by ?? keyOf(element)));
  const [before, applied] = [Array.isArray(was) ? (was as readonly Json[]) : [], new Map(wanted.map((element) => [key(element), element]))];
  const old = new Map(before.map((element) => [key(element), element]));
  const others = (is as readonly Json[]).filter((element) => !applied.has(key(element)));
  // the applying manager owns the element itself, so all of it is removed
  const kept = others.filter((element) => !old.has(key(element)));
  const merged = wanted.map((element) => {
    const live = (is as readonly Json[]).findLast((other) => key(other) === key(element));
    return isJsonObject(element) && isJsonObject(live) ? mergeApplied(live, (old.get(key(element)) ?? {}) as JsonObject, element) : element;
  });
  return [...kept, ...merged];
}

function keyOf(element: Json): string {
  return ["containerPort", "mountPath"].find((name) => field(element, name) !== undefined) ?? "name";
}

function identity({ metadata: { uid, resourceVersion } }: KubeObject): JsonObject {
  return { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
}

function deploymentSchema(): PatchSchema {
  const schema = builtinSchema({ group: "apps", version: "v1", kind: "Deployment" });
  if (schema === undefined) throw new Error("no schema of Deployment");
  return schema;
}

function json(object: KubeObject): JsonObject {
  return object as unknown as JsonObject;
}
