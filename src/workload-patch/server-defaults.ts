/**
 * The value of a patched field as the API server stores it: with its defaults, without zero values, with quantities in canonical form. The record
 * would otherwise differ from the stored value, and look like a change by the owner.
 */
import { field, formatQuantity, isJsonObject, parseQuantity, quantityFamily, type Json, type JsonObject, type Quantity } from "#kube";
import { withField } from "./patched-path.ts";

/** Of a probe. */
const PROBE: JsonObject = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
const HTTP_GET: JsonObject = { path: "/", scheme: "HTTP" };
const FILE_MODE: JsonObject = { defaultMode: 0o644 };
const PROBES = new Set(["livenessProbe", "readinessProbe", "startupProbe"]);
const FILE_SOURCES = ["configMap", "secret", "projected", "downwardAPI"];
/** Not stored when they have their zero value. */
const OMITTED_ZEROS = ["value", "readOnly", "subPath", "subPathExpr", "hostPort", "hostIP", "initialDelaySeconds", "host"];

/** `list`: the field, or for an element its list. */
export function asStored(list: string, value: Json): Json {
  if (!isJsonObject(value)) return value;
  const given = withoutZeros(withoutNulls(value));
  if (list === "env") return inside(given, ["valueFrom"], fieldRef);
  if (list === "ports") return withDefaults(given, { protocol: "TCP" });
  if (list === "volumes") return inside(given, FILE_SOURCES, (source) => withDefaults(source, FILE_MODE));
  if (PROBES.has(list)) return withDefaults(handler(given), PROBE);
  return list === "postStart" || list === "preStop" ? handler(given) : given;
}

function handler(probe: JsonObject): JsonObject {
  const http = inside(probe, ["httpGet"], (get) => withDefaults(withoutZeros(get), HTTP_GET));
  return inside(http, ["grpc"], (grpc) => withDefaults(grpc, { service: "" }));
}

function fieldRef(valueFrom: JsonObject): JsonObject {
  return inside(valueFrom, ["fieldRef"], (ref) => withDefaults(ref, { apiVersion: "v1" }));
}

function inside(object: JsonObject, names: readonly string[], change: (value: JsonObject) => JsonObject): JsonObject {
  let result = object;
  for (const name of names) {
    const value = field(object, name);
    if (isJsonObject(value)) result = withField(result, name, change(value));
  }
  return result;
}

function withDefaults(object: JsonObject, defaults: JsonObject): JsonObject {
  return { ...object, ...Object.fromEntries(Object.entries(defaults).filter(([name]) => field(object, name) === undefined)) };
}

function withoutZeros(object: JsonObject): JsonObject {
  let result = object;
  for (const name of OMITTED_ZEROS) {
    const value = field(object, name);
    if (value === "" || value === 0 || value === false) result = withField(result, name, undefined);
  }
  return result;
}

/** null in a patch removes a field. */
function withoutNulls(object: JsonObject): JsonObject {
  const entries = Object.entries(object).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, isJsonObject(value) ? withoutNulls(value) : value]));
}

/** In billionths. */
const MILLI = 1_000_000n;

/** Of a request or limit: 1000m is stored as 1, and smaller fractions are rounded up to thousandths. Other values are returned as they are. */
export function storedQuantity(value: Json): Json {
  if (typeof value !== "string" && typeof value !== "number") return value;
  const quantity = parseQuantity(value);
  if (!quantity.ok || quantity.value < 0n) return value;
  const rounded = (((quantity.value + MILLI - 1n) / MILLI) * MILLI) as Quantity;
  return formatQuantity(rounded, quantityFamily(String(value)));
}
