/** The fields that the webhook of the measurement writes: the write itself, their values in an object, and their owners in managedFields. */
import { fieldAt, isJsonObject, type Json, type JsonObject } from "#kube";

type Field = {
  readonly name: string;
  /** Below the object, as in an object; list elements by their name. */
  readonly path: readonly (string | { readonly name: string })[];
  /** undefined: appended to a list. */
  readonly value?: Json;
};

const CONTAINER = ["spec", "template", "spec", "containers", { name: "web" }] as const;
const OWNER_SOURCE = { configMapRef: { name: "owner", optional: true } };
const OUR_SOURCE = { configMapRef: { name: "lattice", optional: true } };

export const NEWER_LEVEL = "trace";

export const WRITTEN: readonly Field[] = [
  { name: "env added", path: [...CONTAINER, "env", { name: "LATTICE" }, "value"], value: "on" },
  { name: "env changed", path: [...CONTAINER, "env", { name: "LEVEL" }, "value"], value: "debug" },
  { name: "envFrom appended", path: [...CONTAINER, "envFrom"], value: [OWNER_SOURCE, OUR_SOURCE] },
  { name: "limit changed", path: [...CONTAINER, "resources", "limits", "memory"], value: "128Mi" },
  { name: "limit added", path: [...CONTAINER, "resources", "limits", "cpu"], value: "1" },
  { name: "pod label added", path: ["spec", "template", "metadata", "labels", "lattice.dev/service"], value: "web" },
  { name: "label added", path: ["metadata", "labels", "lattice.dev/service"], value: "web" },
  { name: "annotation added", path: ["metadata", "annotations", "lattice.dev/patched-fields"], value: "{}" },
];

type Node = { [key: string]: Json };

/** The object with all fields as the webhook wants them. */
export function withWrittenFields(object: JsonObject): JsonObject {
  const copy = structuredClone(object) as Node;
  for (const { path, value = null } of WRITTEN) setAt(copy, path, value);
  return copy;
}

/** The same after a change of the service: LEVEL has another value of Lattice. */
export function withNewerFields(object: JsonObject): JsonObject {
  const copy = withWrittenFields(object) as Node;
  setAt(copy, [...CONTAINER, "env", { name: "LEVEL" }, "value"], NEWER_LEVEL);
  return copy;
}

function setAt(root: Node, path: Field["path"], value: Json): void {
  let at: Node | Node[] = root;
  for (const [index, step] of path.entries()) {
    if (index === path.length - 1 && typeof step === "string") return void ((at as Node)[step] = value);
    const next = path[index + 1];
    if (typeof step === "string") at = ((at as Node)[step] ??= typeof next === "string" ? {} : []) as Node | Node[];
    else {
      const list = at as Node[];
      let found = list.find((entry) => entry["name"] === step.name);
      if (found === undefined) list.push((found = { name: step.name }));
      at = found;
    }
  }
}

/** The object as its owner wrote it: what was added is removed, what was changed has the value in `owned`. */
export function withoutWrittenFields(object: JsonObject, owned: JsonObject): JsonObject {
  const copy = structuredClone(object) as Node;
  for (const { path } of WRITTEN) {
    const value = valueAt(owned, path);
    if (value === undefined) removeAt(copy, path);
    else setAt(copy, path, value);
  }
  return copy;
}

/** Removes an added element of a list as a whole. */
function removeAt(root: Node, path: Field["path"]): void {
  const [element, field] = path.slice(-2);
  const isElement = typeof element === "object";
  const parent = valueAt(root, path.slice(0, isElement ? -2 : -1));
  if (isElement && Array.isArray(parent)) {
    const index = parent.findIndex((entry) => fieldAt(entry, "name") === element.name);
    if (index >= 0) parent.splice(index, 1);
  } else if (isJsonObject(parent) && typeof field === "string") delete (parent as Node)[field];
}

/** By name; undefined where the object has no such field. */
export function valuesIn(object: Json | undefined): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(WRITTEN.map(({ name, path }) => [name, show(valueAt(object, path))]));
}

function show(value: Json | undefined): string | undefined {
  if (Array.isArray(value)) return value.map((entry) => textOf(fieldAt(entry, "configMapRef", "name"))).join("+");
  return value === undefined ? undefined : textOf(value);
}

/** A text as it is, anything else as JSON. */
export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

function valueAt(object: Json | undefined, path: Field["path"]): Json | undefined {
  let at: Json | undefined = object;
  for (const step of path) {
    if (typeof step === "string") at = isJsonObject(at) && Object.hasOwn(at, step) ? at[step] : undefined;
    else at = Array.isArray(at) ? at.find((entry) => fieldAt(entry, "name") === step.name) : undefined;
  }
  return at;
}

/** The managers of each field, as "manager Operation"; [] if the field has none. */
export function ownersIn(object: Json): Readonly<Record<string, readonly string[]>> {
  const entries = fieldAt(object, "metadata", "managedFields");
  const managers = Array.isArray(entries) ? entries.filter(isJsonObject) : [];
  return Object.fromEntries(
    WRITTEN.map(({ name, path }) => [
      name,
      managers.filter(({ fieldsV1 }) => isOwned(fieldsV1, path)).map(({ manager, operation }) => `${textOf(manager)} ${textOf(operation)}`),
    ]),
  );
}

function isOwned(fields: Json | undefined, path: Field["path"]): boolean {
  let at = fields;
  for (const step of path) {
    const key = typeof step === "string" ? `f:${step}` : `k:${JSON.stringify(step)}`;
    if (!isJsonObject(at) || !Object.hasOwn(at, key)) return false;
    at = at[key];
  }
  return true;
}
