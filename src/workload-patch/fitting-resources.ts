/**
 * The API server refuses a container that requests more than its limit. An owner may raise its requests at any time, and its write must not be refused
 * because of a limit of the patch: resources of the patch that do not fit those of the owner are left out and reported.
 */
import { compareQuantities, field, isJsonObject, parseQuantity, type Json, type JsonObject, type Quantity } from "#kube";
import { isList, type Merging } from "./merge.ts";
import { lastIndexOf, withField, type PatchedPath } from "./patched-path.ts";
import { CONTAINER_LISTS } from "./shapes.ts";

const KINDS = ["limits", "requests"] as const;

/** The patch without resources that would make a container of the owner's Deployment invalid. */
export function withFittingResources(owner: JsonObject, patch: JsonObject, merging: Pick<Merging, "skipped">): JsonObject {
  const [spec, template] = [field(patch, "spec"), field(field(patch, "spec"), "template")];
  const pod = field(template, "spec");
  if (!isJsonObject(spec) || !isJsonObject(template) || !isJsonObject(pod)) return patch;
  const ownerPod = field(field(field(owner, "spec"), "template"), "spec");
  let result = pod;
  for (const list of CONTAINER_LISTS) {
    const [containers, owned] = [field(pod, list), field(ownerPod, list)];
    if (!isList(containers) || !isList(owned)) continue;
    const fitting = containers.map((container) => fitted(container, owned, ["spec", "template", "spec", list], merging));
    if (fitting.some((container, at) => container !== containers[at])) result = withField(result, list, fitting);
  }
  return result === pod ? patch : withField(patch, "spec", withField(spec, "template", withField(template, "spec", result)));
}

function fitted(container: Json, owned: readonly Json[], path: PatchedPath, merging: Pick<Merging, "skipped">): Json {
  const resources = field(container, "resources");
  if (!isJsonObject(container) || !isJsonObject(resources)) return container;
  const step = { key: { name: field(container, "name") ?? null } };
  const ownResources = field(owned[lastIndexOf(owned, step)], "resources");
  const valueOf = (kind: (typeof KINDS)[number], name: string) =>
    field(field(resources, kind), name) ?? field(field(ownResources, kind), name);
  let result = resources;
  for (const kind of KINDS) {
    for (const name of namesIn(field(resources, kind))) {
      if (fits(name, valueOf("requests", name), valueOf("limits", name))) continue;
      merging.skipped.push({ path: [...path, step, "resources", kind, name], reason: reasonFor(name) });
      const rest = field(result, kind);
      result = withField(result, kind, isJsonObject(rest) ? withField(rest, name, undefined) : undefined);
    }
  }
  return result === resources ? container : withField(container, "resources", result);
}

const namesIn = (quantities: Json | undefined) => (isJsonObject(quantities) ? Object.keys(quantities).toSorted() : []);

function fits(name: string, request: Json | undefined, limit: Json | undefined): boolean {
  const [requested, limited] = [quantityOf(request), quantityOf(limit)];
  if (requested === undefined || limited === undefined) return true;
  const order = compareQuantities(requested, limited);
  return order < 0 ? !mustBeEqual(name) : order === 0;
}

function quantityOf(value: Json | undefined): Quantity | undefined {
  const parsed = typeof value === "string" || typeof value === "number" ? parseQuantity(value) : undefined;
  return parsed?.ok === true ? parsed.value : undefined;
}

/** Huge pages and resources of devices cannot be overcommitted. */
function mustBeEqual(name: string): boolean {
  return name.startsWith("hugepages-") || (name.includes("/") && !name.startsWith("kubernetes.io/"));
}

const reasonFor = (name: string) =>
  `the request and the limit for ${name} of the service and of the Deployment do not fit each other; set both in the service`;
