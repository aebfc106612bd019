/**
 * The fields of an object that the plan of a move reads. A large namespace is held as outlines; whole objects are read again, batch by batch.
 * Pure.
 *
 * An outline has the shape of an object, so that the same functions read both: whatever the graph and the plan find in an object, they find in
 * its outline.
 */
import { field, fieldAt, isJsonObject, jsonEqual, type Json, type JsonObject, type KubeObject, type ObjectMeta } from "#kube";
import { BLOCK_MOVE_ANNOTATION, CLUSTER_LABEL, JOURNAL_LABEL, MOVE_HIERARCHY_LABEL, MOVE_LABEL, PAUSED_ANNOTATION } from "./names.ts";
import { CREDENTIAL_FIELDS, FILE_LISTS } from "./references.ts";

/** `managedFields` has another type than in an object: the compiler refuses an outline where a whole object is needed. */
export type ObjectOutline = Omit<KubeObject, "metadata"> & {
  readonly metadata: Omit<ObjectMeta, "managedFields"> & { readonly managedFields?: unknown };
};

const LABELS = [CLUSTER_LABEL, JOURNAL_LABEL, MOVE_LABEL, MOVE_HIERARCHY_LABEL];
const ANNOTATIONS = [BLOCK_MOVE_ANNOTATION, PAUSED_ANNOTATION];
const CONDITIONS: ReadonlySet<unknown> = new Set(["Paused", "ControlPlaneInitialized"]);

export function outlineOf(object: KubeObject): ObjectOutline {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, uid, deletionTimestamp, ownerReferences = [] } = metadata;
  const owners = ownerReferences.map((owner) => ({ apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name, uid: owner.uid }));
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...present({
        namespace,
        uid,
        deletionTimestamp,
        labels: pick(metadata.labels, LABELS) as ObjectMeta["labels"],
        annotations: pick(metadata.annotations, ANNOTATIONS) as ObjectMeta["annotations"],
        ownerReferences: owners.length === 0 ? undefined : owners,
      }),
    },
    ...present({ spec: specOf(field(object, "spec")), status: statusOf(field(object, "status")) }),
  };
}

/** Whether an object that was read again is as the plan knows it. Its status does not count: controllers write it at any time. */
export function isAsPlanned(object: KubeObject, outline: ObjectOutline): boolean {
  return jsonEqual(withoutStatus(outlineOf(object)), withoutStatus(outline));
}

function withoutStatus(outline: ObjectOutline): object {
  const { status: _status, ...rest } = outline as ObjectOutline & { readonly status?: Json };
  return rest;
}

function specOf(spec: unknown): JsonObject | undefined {
  const topology = pick(field(spec, "topology"), ["class", "classRef"]);
  const controlPlaneRef = pick(field(spec, "controlPlaneRef"), ["name"]);
  const [files, templateFiles, planeFiles] = FILE_LISTS.map((path) => secretFiles(fieldAt(spec, ...path)));
  return filled({
    ...pick(spec, ["paused", "clusterName", ...CREDENTIAL_FIELDS]),
    topology,
    controlPlaneRef,
    files,
    template: nested(templateFiles, "spec", "files"),
    kubeadmConfigSpec: nested(planeFiles, "files"),
  });
}

const nested = (value: Json | undefined, ...path: readonly string[]): Json | undefined =>
  value === undefined ? undefined : path.reduceRight<Json>((inner, name) => ({ [name]: inner }), value);

/** The contents of files may be large; only where they come from is planned. */
function secretFiles(files: unknown): Json | undefined {
  if (!Array.isArray(files)) return undefined;
  const found = files.flatMap((file) => {
    const secret = pick(fieldAt(file, "contentFrom", "secret"), ["name", "kind", "namespace"]);
    return secret === undefined ? [] : [{ contentFrom: { secret } }];
  });
  return found.length === 0 ? undefined : found;
}

function statusOf(status: unknown): JsonObject | undefined {
  const conditions = field(status, "conditions");
  const listed: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  const read = listed.flatMap((one) => (CONDITIONS.has(field(one, "type")) ? (pick(one, ["type", "status"]) ?? []) : []));
  return filled({
    initialization: pick(field(status, "initialization"), ["infrastructureProvisioned", "controlPlaneInitialized"]),
    nodeRef: pick(field(status, "nodeRef"), ["name"]),
    conditions: read.length === 0 ? undefined : (read as readonly JsonObject[]),
  });
}

function pick(value: unknown, names: readonly string[]): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  return filled(Object.fromEntries(names.filter((name) => Object.hasOwn(value, name)).map((name) => [name, value[name]])));
}

function filled(fields: Readonly<Record<string, Json | undefined>>): JsonObject | undefined {
  const kept = present(fields) as JsonObject;
  return Object.keys(kept).length === 0 ? undefined : kept;
}

type Present<T> = { readonly [Name in keyof T]?: Exclude<T[Name], undefined> };

function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}
