/** Table and PartialObjectMetadata responses, which `kubectl get` and metadata informers request in their Accept header. */
import { ok, type Result } from "#base";
import type { Json, JsonObject, KubeObject } from "#kube";
import type { ResourceType } from "../resource-type.ts";
import type { Output } from "./media-types.ts";
import { badRequest, type Failure } from "./status.ts";

export type IncludeObject = "None" | "Metadata" | "Object";

const INCLUDES: ReadonlyMap<string, IncludeObject> = new Map([
  ["", "Metadata"],
  ["None", "None"],
  ["Metadata", "Metadata"],
  ["Object", "Object"],
]);

export function includeObject(query: URLSearchParams): Result<IncludeObject, Failure> {
  const asked = query.get("includeObject") ?? "";
  const include = INCLUDES.get(asked);
  if (include !== undefined) return ok(include);
  const problem = `Invalid value: ${JSON.stringify(asked)}: must be 'Metadata', 'Object', 'None', or empty`;
  return badRequest(`Unable to convert to Table as requested: includeObject: ${problem}`);
}

export type ListMeta = { readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number };

export type TableRequest = {
  readonly type: ResourceType;
  readonly output: Output;
  readonly include: IncludeObject;
  readonly now: number;
  /** A watch sends its columns once. */
  readonly withColumns: boolean;
};

export function tableOf(objects: readonly KubeObject[], metadata: ListMeta, request: TableRequest): Json {
  const rows = objects.length === 0 && request.type.plainTable === true ? null : objects.map((object) => rowOf(object, request));
  return { ...tableHead(metadata, request), rows };
}

/** A Table without its rows. */
export function tableHead(metadata: ListMeta, { type, output, withColumns }: TableRequest): JsonObject {
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${output.version}`,
    metadata: metadata.resourceVersion === "" ? {} : metadata,
    columnDefinitions: withColumns ? type.columns : null,
  };
}

export function rowOf(object: KubeObject, { type, output, include, now }: TableRequest): Json {
  const conditions = type.rowConditions?.(object) ?? [];
  const shown = { cells: type.cells(object, now), ...(conditions.length === 0 ? {} : { conditions }) };
  if (include === "None") return { ...shown, object: null };
  return { ...shown, object: include === "Object" ? asJson(object) : asJson(partialOf(object, type, output.version)) };
}

export function partialOf(object: KubeObject, type: ResourceType, version: string): KubeObject {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: storedMetadata(object, type) };
}

function storedMetadata({ metadata }: KubeObject, { versionAnnotations = [] }: ResourceType): KubeObject["metadata"] {
  if (versionAnnotations.length === 0 || metadata.annotations === undefined) return metadata;
  const stored = Object.entries(metadata.annotations).filter(([name]) => !versionAnnotations.includes(name));
  const { annotations: _all, ...others } = metadata;
  return stored.length === 0 ? others : { ...others, annotations: Object.fromEntries(stored) };
}

export function partialListHead(metadata: ListMeta, version: string): JsonObject {
  return { kind: "PartialObjectMetadataList", apiVersion: `meta.k8s.io/${version}`, metadata };
}

/** Every KubeObject is JSON; TypeScript cannot infer it. */
function asJson(object: KubeObject): Json {
  return object as unknown as Json;
}
