/**
 * The record of a patched Deployment: every field that was changed, with the value before. It is the annotation `lattice.dev/patched-fields`.
 *
 * Users can edit it, so it is parsed as untrusted input.
 */
import { err, memoize, ok, type Result } from "#base";
import { field, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { parseBoundedJson } from "./bounded-json.ts";
import { isTooMuchWork, partsOfFields } from "./patch-work.ts";
import { isPatchable } from "./patchable.ts";
import { withField, type PatchedPath, type PatchedStep } from "./patched-path.ts";
import { isServiceKey } from "./workload-patch.ts";

/** The annotation that holds the record. It is not part of the pod template: changing it starts no rollout. */
export const RECORD_ANNOTATION = "lattice.dev/patched-fields";
/** The annotation by which the controller sends an existing Deployment through the webhook. A revert removes it. */
export const REQUEST_ANNOTATION = "lattice.dev/patch-requested";
/**
 * The label, with the value "true", by which API servers select updates of a Deployment for the webhook. A request of the controller sets it, the
 * webhook keeps it, a revert removes it.
 */
export const PATCHED_LABEL = "lattice.dev/patched";

/** A field that was given up, because another manager kept setting it. It has that manager's value. */
export type PatchBackoff = {
  /** RFC 3339. The field is patched again after this time. */
  readonly until: string;
  /** From managedFields; absent: unknown. */
  readonly manager?: string;
  readonly operation?: string;
};

/** One changed field. */
export type PatchedField = {
  readonly path: PatchedPath;
  /** The owner's value. Absent: the field was not there. */
  readonly before?: Json;
  /** The patched value. Absent: the patch removed the field. */
  readonly after?: Json;
  /** A list or an object that was created to hold other patched fields. It is removed when it is empty again. */
  readonly created?: true;
  /** Of a removed field: its position among its siblings. */
  readonly index?: number;
  /** RFC 3339. */
  readonly since: string;
  /** When another manager set the field back to its own value, the last three times. */
  readonly flips?: readonly string[];
  /** How many times in a row the field was given up; the wait grows with it. */
  readonly backoffs?: number;
  /** Present while the field is given up. */
  readonly backoff?: PatchBackoff;
};

/** Every field of a Deployment that a service changed. */
export type PatchRecord = {
  readonly version: 1;
  /** "namespace/name" of the LatticeService. */
  readonly service: string;
  readonly fields: readonly PatchedField[];
};

/** All annotations of an object together have at most this size. */
const ANNOTATIONS_LIMIT = 256 * 1024;
/** With a record: the rest is for other writers. The controller of Deployments adds some, and copies all to each ReplicaSet with more of its own. */
export const PATCHED_ANNOTATIONS_LIMIT = 240 * 1024;
/** Of a record. */
export const MAX_FIELDS = 2_000;
const MAX_STEPS = 24;
const MAX_DEPTH = 40;
const MAX_FLIPS = 3;

/** The record of a Deployment; undefined: it has none. */
export function recordOf(deployment: KubeObject): Result<PatchRecord | undefined, string> {
  const text = field(deployment.metadata.annotations, RECORD_ANNOTATION);
  if (text === undefined) return ok(undefined);
  if (typeof text !== "string") return err(`annotation ${RECORD_ANNOTATION}: must be a text`);
  const read = parseRecord(text);
  if (!read.ok) return read;
  const { record, parts } = read.value;
  return isTooMuchWork(parts, deployment) ? err(`annotation ${RECORD_ANNOTATION}: too many fields for lists of this length`) : ok(record);
}

/** `parts`: of its fields. */
type ReadRecord = { readonly record: PatchRecord; readonly parts: number };

/** Most reviews of a Deployment have the record of the one before. The limit is in characters: for the records of a few thousand Deployments. */
const parseRecord = memoize({ limit: 4 * 1024 * 1024, weigh: (_, text: string) => text.length, longestKey: 16 * 1024 }, readRecord);

function readRecord(text: string): Result<ReadRecord, string> {
  const parsed = parseBoundedJson(text, { length: ANNOTATIONS_LIMIT, depth: MAX_DEPTH });
  // a message of the parser quotes the text
  if (!parsed.ok) return err(`annotation ${RECORD_ANNOTATION}: ${parsed.error.startsWith("not JSON") ? "not JSON" : parsed.error}`);
  const [service, fields] = [field(parsed.value, "service"), field(parsed.value, "fields")];
  if (field(parsed.value, "version") !== 1) return err(`annotation ${RECORD_ANNOTATION}: version must be 1`);
  if (typeof service !== "string" || !Array.isArray(fields)) {
    return err(`annotation ${RECORD_ANNOTATION}: needs the fields service and fields`);
  }
  if (!isServiceKey(service)) return err(`annotation ${RECORD_ANNOTATION}: service must be "namespace/name"`);
  if (fields.length > MAX_FIELDS) return err(`annotation ${RECORD_ANNOTATION}: more than ${MAX_FIELDS} fields`);
  const read = (fields as readonly Json[]).map(readField);
  const bad = read.indexOf(undefined);
  if (bad >= 0) return err(`annotation ${RECORD_ANNOTATION}: fields[${bad}] is not a patched field`);
  const record: PatchRecord = { version: 1, service, fields: read.filter((entry) => entry !== undefined) };
  return ok({ record, parts: partsOfFields(record.fields) });
}

function readField(value: Json): PatchedField | undefined {
  const path = readPath(field(value, "path"));
  const since = field(value, "since");
  if (path === undefined || typeof since !== "string") return undefined;
  const [before, after, index] = [field(value, "before"), field(value, "after"), field(value, "index")];
  const backoff = readBackoff(field(value, "backoff"));
  const flips = field(value, "flips");
  const backoffs = field(value, "backoffs");
  return {
    path,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(field(value, "created") === true ? { created: true } : {}),
    ...(isCount(index) ? { index } : {}),
    since,
    ...(Array.isArray(flips) ? { flips: (flips as readonly Json[]).filter((time) => typeof time === "string").slice(-MAX_FLIPS) } : {}),
    ...(isCount(backoffs) ? { backoffs } : {}),
    ...(backoff === undefined ? {} : { backoff }),
  };
}

function readBackoff(value: Json | undefined): PatchBackoff | undefined {
  const [until, manager, operation] = [field(value, "until"), field(value, "manager"), field(value, "operation")];
  if (typeof until !== "string") return undefined;
  return {
    until,
    ...(typeof manager === "string" ? { manager } : {}),
    ...(typeof operation === "string" ? { operation } : {}),
  };
}

function isCount(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 1e6;
}

function readPath(value: Json | undefined): PatchedPath | undefined {
  if (!Array.isArray(value) || value.length > MAX_STEPS) return undefined;
  const steps = (value as readonly Json[]).map(readStep);
  const path = steps.filter((step) => step !== undefined);
  return path.length === steps.length && isPatchable(path) ? path : undefined;
}

function readStep(value: Json): PatchedStep | undefined {
  if (typeof value === "string") return value;
  const [key, element] = [field(value, "key"), field(value, "value")];
  if (isJsonObject(key) && Object.keys(key).length > 0) return { key };
  return element === undefined ? undefined : { value: element };
}

/** The Deployment with the label and the record, or without a record when it has no fields. */
export function withRecord(deployment: KubeObject, record: PatchRecord): KubeObject {
  if (record.fields.length === 0) return withAnnotations(deployment, { [RECORD_ANNOTATION]: undefined });
  const text = JSON.stringify(record);
  const { labels } = deployment.metadata;
  const isLabelled = field(labels, PATCHED_LABEL) === "true";
  const labelled = isLabelled
    ? deployment
    : { ...deployment, metadata: { ...deployment.metadata, labels: { ...labels, [PATCHED_LABEL]: "true" } } };
  return withAnnotations(labelled, { [RECORD_ANNOTATION]: text });
}

/** Without the label and the record. Fields of the patch stay. */
export function withoutRecord(deployment: KubeObject): KubeObject {
  const plain = withAnnotations(deployment, { [RECORD_ANNOTATION]: undefined });
  const given = field(plain.metadata, "labels");
  if (!isJsonObject(given) || field(given, PATCHED_LABEL) === undefined) return plain;
  const labels = withField(given, PATCHED_LABEL, undefined) as Labels;
  if (Object.keys(labels).length > 0) return { ...plain, metadata: { ...plain.metadata, labels } };
  const { labels: _, ...metadata } = plain.metadata;
  return { ...plain, metadata };
}

type Labels = Readonly<Record<string, string>>;

type Annotations = Readonly<Record<string, string>>;
const NO_ANNOTATIONS: Annotations = {};

/** undefined removes an annotation. Annotations that become empty are removed as a whole, as the server does. */
export function withAnnotations(deployment: KubeObject, change: Readonly<Record<string, string | undefined>>): KubeObject {
  const given = field(deployment.metadata, "annotations");
  // what is no object counts as none: a review can have null
  const annotations: JsonObject = isJsonObject(given) ? given : NO_ANNOTATIONS;
  let kept = annotations;
  for (const [name, value] of Object.entries(change)) kept = withField(kept, name, value);
  if (Object.keys(kept).length > 0) {
    return kept === annotations ? deployment : { ...deployment, metadata: { ...deployment.metadata, annotations: kept as Annotations } };
  }
  if (given === undefined) return deployment;
  const { annotations: _, ...metadata } = deployment.metadata;
  return { ...deployment, metadata };
}
