/**
 * What the file of an installation asks for that differs from what exists. Pure.
 *
 * In the bootstrap cluster the file is compared with the file of the run before, which an annotation has: what a person has edited in the cluster meanwhile counts, unless the
 * file was changed in that field. A management cluster that owns itself is compared as it is.
 */
import { latticeClusterKind, type LatticeCluster } from "#crds";
import { canonicalJson, field, fieldAt, isJsonObject, jsonEqual, parseJson, type Json, type JsonObject } from "#kube";

/** On the LatticeCluster that an installation creates: `spec` as the file has it. */
export const INSTALLED_SPEC_ANNOTATION = "lattice.dev/installed-spec";

export type SpecFieldChange = {
  readonly path: readonly string[];
  /** Undefined: absent. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
};

export type FileChanges = {
  readonly changes: readonly SpecFieldChange[];
  /** "spec.field: why", of changes that only a new cluster can have. */
  readonly impossible: readonly string[];
};

export type ChangedCluster = {
  readonly live: LatticeCluster;
  readonly file: LatticeCluster;
  /** Its Cluster API objects exist. */
  readonly isMade: boolean;
};

export function installedSpec({ spec }: LatticeCluster): string {
  return canonicalJson(spec);
}

/** In the bootstrap cluster, as long as that owns the cluster. */
export function fileChanges({ live, file, isMade }: ChangedCluster): FileChanges {
  const before = parseJson(live.metadata.annotations?.[INSTALLED_SPEC_ANNOTATION] ?? "");
  const changes = fieldChanges(before.ok ? before.value : writtenOf(live.spec, file.spec), file.spec);
  const next = parsed({ ...live, spec: patched(live.spec, patchOf(changes)) } as LatticeCluster);
  const broken = latticeClusterKind.checkUpdate(parsed(live), next).map(({ path, message }) => `${path}: ${message}`);
  const late = isMade ? ONLY_AT_CREATION.filter((name) => changes.some((change) => isIn(change, name))) : [];
  return { changes, impossible: [...broken, ...late.map((name) => `${pathText(name)}: cannot be changed once machines are made`)] };
}

/** kubeadm writes them into the first machine. */
const ONLY_AT_CREATION = [
  ["networking", "pods"],
  ["networking", "services"],
];

/** The change is below the field, or of an object with that field. */
function isIn({ path, before, after }: SpecFieldChange, name: readonly string[]): boolean {
  if (isBelow(path, name)) return true;
  const rest = name.slice(path.length);
  return isBelow(name, path) && !jsonEqual(fieldAt(before, ...rest), fieldAt(after, ...rest));
}

/** A file of which no run has noted anything: the fields that it has, as they are. */
function writtenOf(live: Json | undefined, file: Json | undefined): Json {
  if (!isJsonObject(live) || !isJsonObject(file)) return live ?? {};
  return Object.fromEntries(
    Object.keys(file).flatMap((name) => {
      const value = field(live, name);
      return value === undefined ? [] : [[name, writtenOf(value, field(file, name))]];
    }),
  );
}

/** "spec.field" of what differs from the own LatticeCluster of a management cluster. Ports of a cell that the file does not name are those of its machine. */
export function ownDifferences(own: LatticeCluster, file: LatticeCluster): readonly string[] {
  return fieldChanges(parsed(own).spec, parsed(file).spec)
    .filter(({ path }) => !isBelow(path, ["cellRef"]) && !isDefaultEndpoint(path, file))
    .map(({ path, before, after }) => `${pathText(path)} is ${valueText(before)}, and ${valueText(after)} in the file`);
}

function isDefaultEndpoint([first, name = "", ...rest]: readonly string[], { spec }: LatticeCluster): boolean {
  const written = field(spec.endpoints, name);
  return first === "endpoints" && (rest.length === 0 ? written === undefined : field(written, rest[0] ?? "") === undefined);
}

/** With the defaults of the schema. */
function parsed(cluster: LatticeCluster): LatticeCluster {
  const { apiVersion, kind, metadata, spec } = cluster;
  const read = latticeClusterKind.parse({ apiVersion, kind, metadata: { name: metadata.name }, spec });
  return read.ok ? read.value : cluster;
}

/** Lists are compared as a whole. */
function fieldChanges(before: unknown, after: unknown, path: readonly string[] = []): readonly SpecFieldChange[] {
  if (!isJsonObject(before) || !isJsonObject(after))
    return jsonEqual(before, after) ? [] : [{ path, before: before as Json | undefined, after: after as Json | undefined }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return names.flatMap((name) => fieldChanges(field(before, name), field(after, name), [...path, name]));
}

/** A merge patch of the spec. */
export function patchOf(changes: readonly SpecFieldChange[]): JsonObject {
  let patch: JsonObject = {};
  for (const { path, after } of changes) patch = withValue(patch, path, after ?? null);
  return patch;
}

function withValue(object: JsonObject, [name = "", ...rest]: readonly string[], value: Json): JsonObject {
  const below = field(object, name);
  return { ...object, [name]: rest.length === 0 ? value : withValue(isJsonObject(below) ? below : {}, rest, value) };
}

function patched(value: unknown, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const fields = new Map<string, Json>(Object.entries(isJsonObject(value) ? value : {}) as [string, Json][]);
  for (const [name, below] of Object.entries(patch)) {
    if (below === null) fields.delete(name);
    else fields.set(name, patched(fields.get(name), below ?? null));
  }
  return Object.fromEntries(fields);
}

function isBelow(path: readonly string[], above: readonly string[]): boolean {
  return above.every((name, at) => path[at] === name);
}

export function changeText({ path, before, after }: SpecFieldChange): string {
  return `${pathText(path)}: ${valueText(before)} -> ${valueText(after)}`;
}

function pathText(path: readonly string[]): string {
  return ["spec", ...path].join(".");
}

function valueText(value: Json | undefined): string {
  return value === undefined ? "absent" : typeof value === "string" ? value : JSON.stringify(value);
}
