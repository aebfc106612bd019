/**
 * Variables of the service that the owner's container has in `env`, which takes precedence over `envFrom`. The result stays valid when the owner's
 * tool merges its own element into it while the webhook does not act:
 *
 * - An element with a `value` gets the value `$(LATTICE_NAME)`. The added element LATTICE_NAME comes first and has the reference.
 * - An element with a `valueFrom` gets ours when both have the same member. Otherwise it is removed, and `envFrom` supplies the variable.
 */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { change, isList, type MergedField, type Merging } from "./merge.ts";
import { lastIndexOf, withField, type PatchedPath } from "./patched-path.ts";
import { memberOf } from "./union-member.ts";

export type Overrides = {
  /** NAME -> valueFrom. */
  readonly variables: JsonObject;
  /** The entries of the patch for `envFrom`. */
  readonly sources: readonly Json[];
};

/** The element that holds the reference for a variable of the owner. */
const HELPER_PREFIX = "LATTICE_";

export function mergeOverrides(container: JsonObject, overrides: Overrides, path: PatchedPath, merging: Merging): JsonObject {
  const env = field(container, "env");
  if (!isList(env)) return container;
  const positions = positionsIn(env);
  const names = Object.keys(overrides.variables).toSorted();
  const overridden = names.filter((name) => positions.has(name) && referenceOf(name, overrides) !== undefined);
  const skip = (name: string, reason: string) => merging.skipped.push({ path: [...path, "env", { key: { name } }], reason });
  const ways = overridden.map((name) => ({ name, way: wayOf(name, { env, positions }, overrides) }));
  for (const { name, way } of ways) if (typeof way === "object") skip(name, way.reason);
  const chosen = (wanted: Way) => ways.flatMap(({ name, way }) => (way === wanted ? [name] : []));
  // removed first: a revert inserts them last, at positions in a list without the added elements
  const removed = removeElements(container, chosen("remove"), path, merging);
  return changeElements(removed, { helped: chosen("helper"), replaced: chosen("replace"), overrides }, path, merging);
}

type Variables = { readonly env: readonly Json[]; readonly positions: ReadonlyMap<Json | undefined, number> };

/** By name. The last element counts: of two variables with one name, the container gets the second. */
function positionsIn(env: readonly Json[]): Variables["positions"] {
  return new Map(env.map((element, index) => [field(element, "name"), index]));
}

/** `configMapKeyRef` or `secretKeyRef`. */
function referenceOf(name: string, { variables }: Overrides): string | undefined {
  return memberOf("env", { valueFrom: field(variables, name) ?? null });
}

type Way = "helper" | "replace" | "remove" | { readonly reason: string };

function wayOf(name: string, { env, positions }: Variables, overrides: Overrides): Way {
  const { variables, sources } = overrides;
  const element = env[positions.get(name) ?? -1];
  const [own, ours] = [memberOf("env", element), referenceOf(name, overrides) ?? ""];
  if (own === ours) return "replace";
  if (own === undefined || own === "value") {
    const helper = HELPER_PREFIX + name;
    if (!positions.has(helper) && field(variables, helper) === undefined) return "helper";
    return { reason: `the variable ${helper} is needed to set it and is in use; rename ${helper}, or remove ${name} from the Deployment` };
  }
  if (env.some((other) => other !== element && field(other, "name") === name)) {
    return { reason: `the container has ${name} twice; remove one of both from the Deployment` };
  }
  if (env.some((other) => uses(other, name))) {
    return {
      reason: `another variable of the container uses $(${name}); remove ${name} from the service, or set it with value in the Deployment`,
    };
  }
  if (sources.some((source) => supplies(source, name, field(variables, name)))) return "remove";
  return { reason: `the Deployment has ${own} and the service ${ours}; use the same in both, or remove ${name} from the Deployment` };
}

function uses(element: Json, name: string): boolean {
  const value = field(element, "value");
  return typeof value === "string" && value.includes(`$(${name})`);
}

/** Whether an entry of `envFrom` has the variable under its own name. */
function supplies(source: Json, name: string, valueFrom: Json | undefined): boolean {
  return [["configMapRef", "configMapKeyRef"] as const, ["secretRef", "secretKeyRef"] as const].some(([whole, single]) => {
    const [object, reference] = [field(source, whole), field(valueFrom, single)];
    if (!isJsonObject(object) || !isJsonObject(reference) || field(source, "prefix") !== undefined) return false;
    return field(object, "name") === field(reference, "name") && field(reference, "key") === name;
  });
}

/** A list that becomes empty is removed as a whole, because the server does not store it. */
function removeElements(container: JsonObject, names: readonly string[], path: PatchedPath, merging: Merging): JsonObject {
  let result = container;
  for (const name of names) {
    const env = field(result, "env");
    if (!isList(env)) return result;
    const step = { key: { name } };
    const index = lastIndexOf(env, step);
    const before = env[index];
    if (before === undefined) continue;
    const removed: MergedField =
      env.length === 1
        ? { path: [...path, "env"], before: env, index: Object.keys(result).indexOf("env") }
        : { path: [...path, "env", step], before, index };
    merging.fields.push(removed);
    if (!merging.isGivenUp(removed)) result = withField(result, "env", env.length === 1 ? undefined : env.toSpliced(index, 1));
  }
  return result;
}

type Changes = { readonly helped: readonly string[]; readonly replaced: readonly string[]; readonly overrides: Overrides };

function changeElements(container: JsonObject, changes: Changes, path: PatchedPath, merging: Merging): JsonObject {
  const env = field(container, "env");
  if (!isList(env)) return container;
  const added: Json[] = [];
  const result = [...env];
  const positions = positionsIn(env);
  const set = (name: string, content: JsonObject) => {
    const index = positions.get(name);
    const now = index === undefined ? undefined : result[index];
    const next = change(now, { name, ...content }, [...path, "env", { key: { name } }], merging);
    if (next !== undefined && index === undefined) added.push(next);
    else if (next !== undefined && index !== undefined) result[index] = next;
    return next !== undefined;
  };
  const { variables } = changes.overrides;
  for (const name of changes.replaced) set(name, { valueFrom: field(variables, name) ?? {} });
  for (const name of changes.helped) {
    // without its helper, the value would be the text of the reference
    const isThere = set(HELPER_PREFIX + name, { valueFrom: field(variables, name) ?? {} });
    if (isThere) set(name, { value: `$(${HELPER_PREFIX}${name})` });
  }
  const isSame = added.length === 0 && result.every((element, index) => element === env[index]);
  return isSame ? container : withField(container, "env", [...added, ...result]);
}
