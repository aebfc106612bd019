/**
 * The differences between two sets of compiled objects: objects and their fields, pods that will roll, flows that open or close, and values that
 * move between a ConfigMap and a Secret.
 *
 * Values of Secrets are compared and never printed.
 */
import { describeObject, fieldAt, isJsonObject, ownedFields, type JsonObject, type KubeObject } from "#kube";
import { CONFIG_HASH_ANNOTATION } from "#service-compiler";
import { configRead, movedValues, sameContent, sameText, type Move, type Objects } from "./diff/config.ts";
import { changedFields, type FieldChange } from "./diff/fields.ts";
import { flowsOf, type Flow } from "./diff/flows.ts";

/** An object that is added, removed or changed. */
export type ObjectChange = {
  readonly change: "added" | "removed" | "changed";
  /** `Deployment shop/api`. */
  readonly object: string;
  /** The changed fields of a changed object. */
  readonly fields: readonly FieldChange[];
};

/** Pods that are replaced, and why. */
export type Roll = { readonly workload: string; readonly because: readonly string[] };

/** All differences between two sets of objects. */
export type WorldDiff = {
  readonly objects: readonly ObjectChange[];
  readonly rolls: readonly Roll[];
  readonly flows: { readonly opened: readonly Flow[]; readonly closed: readonly Flow[] };
  readonly moves: readonly Move[];
};

/** Options of a comparison. */
export type DiffOptions = {
  /** `before` is read from a cluster, where this field manager applies: server defaults and fields of other managers are not a difference. */
  readonly liveManager?: string;
  /** Labels and annotations by which an applier recognizes its objects; they are not compared. */
  readonly bookkeeping?: ReadonlySet<string>;
  readonly trustDomain?: (namespace: string) => string;
  /** Deployments that are not compared, and whose pods send and receive traffic: those that services patch. */
  readonly patched?: { readonly before: readonly KubeObject[]; readonly after: readonly KubeObject[] };
};

/**
 * Compares two sets of compiled objects, such as those of two versions of the same files.
 *
 * @example
 * const { flows } = diffObjects(compileAll(before).objects, compileAll(after).objects);
 * if (flows.opened.length > 0) console.log("this change opens", flows.opened);
 */
export function diffObjects(before: readonly KubeObject[], after: readonly KubeObject[], options: DiffOptions = {}): WorldDiff {
  const [old, own] = [byName(before), byName(after)];
  const moves = movedValues(old, own);
  const hidden = new Set(moves.flatMap(({ name, from, to }) => [`${from}\0${name}`, `${to}\0${name}`]));
  const names = [...new Set([...old.keys(), ...own.keys()])].toSorted();
  const objects = names.flatMap((name) => objectChange(name, old.get(name), own.get(name), { ...options, hidden }));
  const { trustDomain, patched = { before: [], after: [] } } = options;
  const flowsBefore = flowsOf([...before, ...patched.before], trustDomain);
  const flowsAfter = flowsOf([...after, ...patched.after], trustDomain);
  return {
    objects,
    rolls: [...own.values()].flatMap((object) => rollOf(object, old, own, objects)),
    flows: { opened: notIn(flowsAfter, flowsBefore), closed: notIn(flowsBefore, flowsAfter) },
    moves,
  };
}

/**
 * Whether there is no difference.
 *
 * @example process.exitCode = isSame(diffObjects(before, after)) ? 0 : 1;
 */
export function isSame({ objects }: WorldDiff): boolean {
  return objects.length === 0;
}

function byName(objects: readonly KubeObject[]): Objects {
  return new Map(objects.map((object) => [describeObject(object), object]));
}

function notIn(flows: ReadonlyMap<string, Flow>, others: ReadonlyMap<string, Flow>): readonly Flow[] {
  return [...flows].filter(([text]) => !others.has(text)).map(([, flow]) => flow);
}

type Showing = DiffOptions & { /** `ConfigMap shop/api-env\0NAME`: shown without its value. */ readonly hidden: ReadonlySet<string> };

function objectChange(
  name: string,
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  showing: Showing,
): readonly ObjectChange[] {
  if (before === undefined || after === undefined)
    return [{ change: before === undefined ? "added" : "removed", object: name, fields: [] }];
  const owned = showing.liveManager === undefined ? undefined : ownedFields(before, showing.liveManager);
  const { bookkeeping = NOTHING } = showing;
  const fields = changedFields(comparable(before, bookkeeping), comparable(after, bookkeeping), "", { owned }).flatMap((field) =>
    withoutSecrets(name, field, showing),
  );
  return fields.length === 0 ? [] : [{ change: "changed", object: name, fields }];
}

const NOTHING: ReadonlySet<string> = new Set();
const SERVER_METADATA = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
  "ownerReferences",
  "finalizers",
  "selfLink",
];
const SERVER_ANNOTATIONS = [
  CONFIG_HASH_ANNOTATION,
  "deployment.kubernetes.io/revision",
  "kubectl.kubernetes.io/last-applied-configuration",
];

/** Without fields that the server sets, and without the config hash: config changes are reported separately. */
function comparable(object: KubeObject, bookkeeping: ReadonlySet<string>): JsonObject {
  const { status: _status, metadata, spec, ...rest } = object as unknown as JsonObject & { readonly metadata: JsonObject };
  const template = fieldAt(spec, "template");
  const own =
    isJsonObject(spec) && isJsonObject(template) && isJsonObject(template["metadata"])
      ? { ...spec, template: { ...template, metadata: withoutAnnotations(template["metadata"]) } }
      : spec;
  const kept = withoutAnnotations(withoutLabels(without(metadata, SERVER_METADATA), bookkeeping), bookkeeping);
  return { ...rest, metadata: kept, ...(own === undefined ? {} : { spec: own }) };
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

function withoutLabels(metadata: JsonObject, names: ReadonlySet<string>): JsonObject {
  const { labels } = metadata;
  return isJsonObject(labels) ? { ...metadata, labels: without(labels, [...names]) } : metadata;
}

function withoutAnnotations(metadata: JsonObject, bookkeeping: ReadonlySet<string> = NOTHING): JsonObject {
  const { annotations, ...rest } = metadata;
  const kept = isJsonObject(annotations) ? without(annotations, [...SERVER_ANNOTATIONS, ...bookkeeping]) : {};
  return Object.keys(kept).length === 0 ? rest : { ...rest, annotations: kept };
}

/** A placeholder secret is not a change: its value is unknown. */
function withoutSecrets(name: string, field: FieldChange, { hidden }: Showing): readonly FieldChange[] {
  const { path, change, before, after } = field;
  const key = /^(?:data|stringData)(?:\.(.+)|\["(.+)"\])$/
    .exec(path)
    ?.slice(1)
    .find((one) => one !== undefined);
  if (!name.startsWith("Secret ")) return key !== undefined && hidden.has(`${name}\0${key}`) ? [{ path, change }] : [field];
  if (key === undefined) return /^(data|stringData)/.test(path) ? [{ path, change }] : [field];
  return change === "changed" && sameText(before, after) ? [] : [{ path, change }];
}

function rollOf(object: KubeObject, old: Objects, own: Objects, changes: readonly ObjectChange[]): readonly Roll[] {
  const workload = describeObject(object);
  const before = old.get(workload);
  if (object.kind !== "Deployment" || before === undefined) return [];
  const fields = changes.find((one) => one.object === workload)?.fields ?? [];
  const template = fields.filter(({ path }) => path.startsWith("spec.template.")).map(({ path }) => path.slice("spec.template.".length));
  const read = new Set([...configRead(before), ...configRead(object)]);
  const config = [...read].filter((name) => !sameContent(old.get(name), own.get(name)));
  const because = [...template, ...config];
  return because.length === 0 ? [] : [{ workload, because }];
}
