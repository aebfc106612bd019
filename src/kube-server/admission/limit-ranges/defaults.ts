/** Sets a LimitRange's defaults in the containers of a pod, and lists them in an annotation. */
import { field, fieldAt, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { withMetadata } from "../../protocol/object-meta.ts";
import { withSpec } from "../built-in/change.ts";

const ANNOTATION = "kubernetes.io/limit-ranger";

type Texts = ReadonlyMap<string, Json>;
type Defaults = { readonly requests: Texts; readonly limits: Texts };

export function withDefaults(pod: KubeObject, range: KubeObject): KubeObject {
  const defaults = defaultsOf(range);
  const changes: string[] = [];
  const containers = filled(pod, { list: "containers", label: "container", defaults, changes });
  const initContainers = filled(pod, { list: "initContainers", label: "init container", defaults, changes });
  if (changes.length === 0) return pod;
  const changed = withSpec(pod, { ...containers, ...initContainers });
  const annotations = { ...pod.metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${changes.join("; ")}` };
  return withMetadata(changed, { annotations });
}

/** Several items for containers are merged; the last value wins. */
function defaultsOf(range: KubeObject): Defaults {
  const requests = new Map<string, Json>();
  const limits = new Map<string, Json>();
  for (const item of itemsOf(fieldAt(range, "spec", "limits"))) {
    if (field(item, "type") !== "Container") continue;
    for (const [name, value] of entriesOf(field(item, "defaultRequest"))) requests.set(name, value);
    for (const [name, value] of entriesOf(field(item, "default"))) limits.set(name, value);
  }
  return { requests, limits };
}

type Filling = {
  readonly list: "containers" | "initContainers";
  readonly label: string;
  readonly defaults: Defaults;
  /** Descriptions of the values that were set, for the annotation. */
  readonly changes: string[];
};

function filled(pod: KubeObject, { list, label, defaults, changes }: Filling): JsonObject {
  const given = fieldAt(pod, "spec", list);
  if (!Array.isArray(given)) return {};
  const containers = (given as readonly Json[]).map((container) => {
    if (!isJsonObject(container)) return container;
    const requests = missing(defaults.requests, fieldAt(container, "resources", "requests"));
    const limits = missing(defaults.limits, fieldAt(container, "resources", "limits"));
    const which = `${label} ${nameOf(container)}`;
    if (requests.length > 0) changes.push(`${namesOf(requests)} request for ${which}`);
    if (limits.length > 0) changes.push(`${namesOf(limits)} limit for ${which}`);
    return withResources(container, requests, limits);
  });
  return { [list]: containers };
}

function nameOf(container: JsonObject): string {
  const name = field(container, "name");
  return typeof name === "string" ? name : "";
}

type Entry = readonly [string, Json];

function missing(defaults: Texts, given: Json | undefined): readonly Entry[] {
  return [...defaults].filter(([name]) => field(given, name) === undefined);
}

function namesOf(entries: readonly Entry[]): string {
  return entries
    .map(([name]) => name)
    .toSorted()
    .join(", ");
}

function withResources(container: JsonObject, requests: readonly Entry[], limits: readonly Entry[]): JsonObject {
  if (requests.length === 0 && limits.length === 0) return container;
  const { limits: oldLimits, requests: oldRequests, ...rest } = asObject(field(container, "resources"));
  const list = (name: string, old: Json | undefined, added: readonly Entry[]): JsonObject => {
    const all = [...entriesOf(old), ...added].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return all.length === 0 ? {} : { [name]: Object.fromEntries(all) };
  };
  return { ...container, resources: { ...list("limits", oldLimits, limits), ...list("requests", oldRequests, requests), ...rest } };
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function itemsOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function entriesOf(value: Json | undefined): readonly Entry[] {
  return Object.entries(asObject(value)).flatMap(([name, item]) => (item === undefined ? [] : [[name, item] as const]));
}
