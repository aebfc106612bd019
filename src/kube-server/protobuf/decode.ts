/**
 * Decodes Kubernetes' protobuf encoding into JSON. Go clients (kubectl among them) send built-in kinds in it; responses are always JSON,
 * which all clients accept.
 *
 * The result is the equivalent JSON, including empty fields: it is passed to the kind's `decode`, as any other body.
 */
import { Buffer } from "node:buffer";
import { err, ok, type Result } from "#base";
import { parseJson, type Json } from "#kube";
import { builtinDefinitionNameOf } from "#patch";
import { messageShape, type FieldShape, type MessageShape } from "./messages.ts";
import { readFields } from "./wire.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const MAGIC = [0x6b, 0x38, 0x73, 0x00] as const;
const MAX_DEPTH = 100;

type Read = Result<Json, string>;
type Draft = { [name: string]: Json };

export function isProtobuf(contentType: string): boolean {
  return contentType.split(";")[0]?.trim().toLowerCase() === PROTOBUF;
}

/** `fallback`: the type of an object without apiVersion and kind. */
export function decodeProtobuf(bytes: Uint8Array, fallback: { readonly apiVersion: string; readonly kind: string }): Read {
  if (!MAGIC.every((byte, index) => bytes[index] === byte)) {
    return err("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  }
  const envelope = readMessage("pkg.runtime.Unknown", bytes.subarray(MAGIC.length), 0);
  if (!envelope.ok) return envelope;
  const { typeMeta = {}, raw = "" } = envelope.value as { typeMeta?: { apiVersion?: string; kind?: string }; raw?: string };
  const apiVersion = (typeMeta.apiVersion ?? "") === "" ? fallback.apiVersion : (typeMeta.apiVersion ?? "");
  const kind = (typeMeta.kind ?? "") === "" ? fallback.kind : (typeMeta.kind ?? "");
  const name = messageName(apiVersion, kind);
  if (name === undefined) return err(`no kind "${kind}" is registered for version "${apiVersion}"`);
  const object = readMessage(name, Buffer.from(raw, "base64"), 0);
  return object.ok ? ok({ apiVersion, kind, ...(object.value as Draft) }) : object;
}

const META_KINDS = new Set(["DeleteOptions", "Status", "CreateOptions", "UpdateOptions", "PatchOptions"]);

function messageName(apiVersion: string, kind: string): string | undefined {
  if (META_KINDS.has(kind)) return `meta.v1.${kind}`;
  const slash = apiVersion.indexOf("/");
  const gvk = { group: slash < 0 ? "" : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind };
  return builtinDefinitionNameOf(gvk)?.split(".").slice(-3).join(".");
}

function readMessage(name: string, bytes: Uint8Array, depth: number): Read {
  if (depth > MAX_DEPTH) return err("nested too deep");
  const special = SPECIAL.get(name);
  const shape = messageShape(name) ?? TEXTS;
  const fields = readShape(shape, bytes, depth);
  if (!fields.ok) return fields;
  if (special !== undefined) return special(fields.value);
  return ok(shape === TEXTS ? (fields.value["items"] ?? []) : fields.value);
}

/** Messages without a definition are lists of strings in Go. */
const TEXTS: MessageShape = new Map([[1, { name: "items", form: "list", type: "s" }]]);

function readShape(shape: MessageShape, bytes: Uint8Array, depth: number): Result<Draft, string> {
  const read = readFields(bytes);
  if (!read.ok) return read;
  const draft: Draft = Object.create(null) as Draft;
  for (const { number, value } of read.value) {
    const field = shape.get(number);
    if (field === undefined) continue; // a field of a newer version
    const added = addField(draft, field, value, depth);
    if (!added.ok) return added;
  }
  return ok({ ...draft });
}

function addField(draft: Draft, { name, form, type }: FieldShape, raw: bigint | Uint8Array, depth: number): Result<void, string> {
  const value = form === "map" ? readEntry(type, raw, depth) : readValue(type, raw, depth);
  if (!value.ok) return value;
  if (form === "list") draft[name] = [...((draft[name] as readonly Json[] | undefined) ?? []), value.value];
  else if (form === "inline") Object.assign(draft, value.value);
  else if (form === "map") draft[name] = { ...(draft[name] as Draft | undefined), ...(value.value as Draft) };
  else draft[name] = value.value;
  return ok(undefined);
}

/** A map is a list of messages: field 1 is the key, field 2 the value. */
function readEntry(type: string, raw: bigint | Uint8Array, depth: number): Read {
  const shape: MessageShape = new Map([
    [1, { name: "key", form: "one", type: "s" }],
    [2, { name: "value", form: "one", type }],
  ]);
  const entry = raw instanceof Uint8Array ? readShape(shape, raw, depth + 1) : err("a map entry is not a message");
  if (!entry.ok) return entry;
  const { key = "", value = EMPTY[type] ?? {} } = entry.value;
  return ok(Object.fromEntries([[typeof key === "string" ? key : "", value]]));
}

const EMPTY: Readonly<Record<string, Json>> = { s: "", y: "", b: false, i: 0, d: 0 };

function readValue(type: string, raw: bigint | Uint8Array, depth: number): Read {
  const scalar = SCALARS.get(type);
  if (scalar === undefined) return raw instanceof Uint8Array ? readMessage(type, raw, depth + 1) : err("a message is not length-delimited");
  const value = scalar(raw);
  return value === undefined ? err("a field has the wrong wire type") : ok(value);
}

const SCALARS: ReadonlyMap<string, (raw: bigint | Uint8Array) => Json | undefined> = new Map<
  string,
  (raw: bigint | Uint8Array) => Json | undefined
>([
  ["s", (raw) => (raw instanceof Uint8Array ? Buffer.from(raw).toString("utf8") : undefined)],
  ["y", (raw) => (raw instanceof Uint8Array ? Buffer.from(raw).toString("base64") : undefined)],
  ["b", (raw) => (typeof raw === "bigint" ? raw !== 0n : undefined)],
  ["i", (raw) => (typeof raw === "bigint" ? Number(BigInt.asIntN(64, raw)) : undefined)],
  ["d", (raw) => (raw instanceof Uint8Array && raw.byteLength === 8 ? Buffer.from(raw).readDoubleLE() : undefined)],
]);

/** Types with custom JSON encoding. */
const SPECIAL: ReadonlyMap<string, (fields: Draft) => Read> = new Map<string, (fields: Draft) => Read>([
  ["api.resource.Quantity", ({ string = "" }) => ok(string)],
  ["util.intstr.IntOrString", ({ type = 0, intVal = 0, strVal = "" }) => ok(type === 0 ? intVal : strVal)],
  ["meta.v1.Time", ({ seconds = 0 }) => ok(timeText(Number(seconds), 0))],
  ["meta.v1.MicroTime", ({ seconds = 0, nanos = 0 }) => ok(timeText(Number(seconds), Number(nanos), 6))],
  ["meta.v1.Duration", ({ duration = 0 }) => ok(`${Number(duration) / 1e9}s`)],
  ["meta.v1.FieldsV1", rawJson],
  ["pkg.runtime.RawExtension", rawJson],
  ["apiextensions.v1.JSON", rawJson],
  [
    "apiextensions.v1.JSONSchemaProps",
    (fields) => ok(Object.fromEntries(Object.entries(fields).map(([name, value]) => [schemaName(name), value]))),
  ],
  ["apiextensions.v1.JSONSchemaPropsOrArray", ({ schema, jSONSchemas }) => ok(jSONSchemas ?? schema ?? {})],
  ["apiextensions.v1.JSONSchemaPropsOrBool", ({ allows = false, schema }) => ok(schema ?? allows)],
  ["apiextensions.v1.JSONSchemaPropsOrStringArray", ({ schema, property }) => ok(property ?? schema ?? [])],
]);

function rawJson({ raw = "", Raw = raw }: Draft): Read {
  const text = Buffer.from(typeof Raw === "string" ? Raw : "", "base64").toString("utf8");
  return text === "" ? ok(null) : parseJson(text);
}

/** Go's zero time is null in JSON. */
function timeText(seconds: number, nanos: number, digits = 0): Json {
  if (seconds === 0 && nanos === 0) return null;
  const date = new Date(seconds * 1_000);
  if (Number.isNaN(date.getTime())) return null;
  const whole = date.toISOString().slice(0, 19);
  return digits === 0 ? `${whole}Z` : `${whole}.${String(Math.floor(nanos / 1_000)).padStart(digits, "0")}Z`;
}

function schemaName(name: string): string {
  if (name === "ref" || name === "schema") return `$${name}`;
  return name.startsWith("xKubernetes") ? `x${name.slice(1).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}` : name;
}
