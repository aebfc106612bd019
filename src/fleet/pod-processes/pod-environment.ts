/**
 * The environment variables of a container, as a kubelet computes them: values, fields of the Pod, keys of ConfigMaps and Secrets, and
 * `$(NAME)` references to variables before.
 *
 * A process of this machine gets only names that Lattice and its libraries read: NODE_OPTIONS, PATH or LD_PRELOAD of a Pod must not change
 * what runs here.
 */
import { andThen, bytesOfBase64, err, ok, textOfBytes, type Result } from "#base";
import { field, fieldAt, isJsonObject, type Json, type KubeObject, type Pod } from "#kube";

/** ConfigMaps and Secrets of the Pod's namespace. */
export type VariableSources = { readonly find: (kind: "ConfigMap" | "Secret", name: string) => KubeObject | undefined };

export type PodEnvironment = {
  /** All variables, for `$(NAME)` in arguments. */
  readonly variables: ReadonlyMap<string, string>;
  /** Names of variables with the value of a Secret, whole or in part. */
  readonly secret: ReadonlySet<string>;
  /** Those that the process gets. */
  readonly passed: Readonly<Record<string, string>>;
  readonly leftOut: readonly string[];
};

/** A limit of Linux for the arguments and environment of one process is 2 MiB. */
const MAX_TEXT = 128 * 1024;
const PASSED = /^(?:LATTICE_(?!CACHE$|SOURCE$)[A-Z0-9_]+|OTEL_[A-Z0-9_]+|POD_[A-Z0-9_]+|NODE_NAME|LANG|LC_[A-Z]+|TZ)$/;

export function podEnvironment(pod: Pod, container: Json, sources: VariableSources): Result<PodEnvironment, string> {
  if (listOf(container, "envFrom").length > 0) return err("envFrom is not supported for a process of the fleet; list the variables in env");
  const variables = new Map<string, string>();
  const secret = new Set<string>();
  for (const [index, entry] of listOf(container, "env").entries()) {
    const name = field(entry, "name");
    if (typeof name !== "string") continue;
    const value = valueOf(entry, { pod, sources, variables });
    if (!value.ok) return err(`env[${index}] (${name}): ${value.error}`);
    if (value.value === undefined) continue;
    variables.set(name, value.value);
    if (isSecret(entry, secret)) secret.add(name);
    else secret.delete(name);
  }
  const all = [...variables];
  const passed = Object.fromEntries(all.filter(([name]) => PASSED.test(name)));
  return ok({ variables, secret, passed, leftOut: all.map(([name]) => name).filter((name) => !PASSED.test(name)) });
}

function isSecret(entry: Json, secret: ReadonlySet<string>): boolean {
  if (fieldAt(entry, "valueFrom", "secretKeyRef") !== undefined) return true;
  return referencesIn(textAt(entry, "value") ?? "").some((name) => secret.has(name));
}

type Scope = { readonly pod: Pod; readonly sources: VariableSources; readonly variables: ReadonlyMap<string, string> };

/** Undefined: an optional key that does not exist. */
function valueOf(entry: Json, scope: Scope): Result<string | undefined, string> {
  const from = field(entry, "valueFrom");
  if (from === undefined || from === null) return expandVariables(textAt(entry, "value") ?? "", scope.variables);
  const path = fieldAt(from, "fieldRef", "fieldPath");
  if (typeof path === "string") return podField(scope.pod, path);
  for (const [reference, kind] of [
    ["configMapKeyRef", "ConfigMap"],
    ["secretKeyRef", "Secret"],
  ] as const) {
    const selected = field(from, reference);
    if (isJsonObject(selected)) return keyOfSource(selected, kind, scope.sources);
  }
  return err("is not supported for a process of the fleet; use value, fieldRef, configMapKeyRef or secretKeyRef");
}

function keyOfSource(selected: Json, kind: "ConfigMap" | "Secret", sources: VariableSources): Result<string | undefined, string> {
  const [name = "", key = ""] = [textAt(selected, "name"), textAt(selected, "key")];
  const optional = field(selected, "optional") === true;
  const source = sources.find(kind, name);
  const data = source === undefined ? undefined : field(source, "data");
  const value = isJsonObject(data) && Object.hasOwn(data, key) ? data[key] : undefined;
  if (typeof value !== "string") {
    if (optional) return ok(undefined);
    return err(source === undefined ? `${kind} ${name} does not exist` : `${kind} ${name} has no key ${key}`);
  }
  if (kind === "ConfigMap") return ok(value);
  const text = andThen(bytesOfBase64(value), textOfBytes);
  return text.ok ? text : err(`key ${key} of Secret ${name} ${text.error}`);
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "metadata.name": ["metadata", "name"],
  "metadata.namespace": ["metadata", "namespace"],
  "metadata.uid": ["metadata", "uid"],
  "spec.nodeName": ["spec", "nodeName"],
  "spec.serviceAccountName": ["spec", "serviceAccountName"],
};

function podField(pod: Pod, path: string): Result<string, string> {
  const keyed = /^metadata\.(labels|annotations)\['([^']+)'\]$/.exec(path);
  const steps = keyed === null ? (Object.hasOwn(FIELDS, path) ? FIELDS[path] : undefined) : ["metadata", keyed[1] ?? "", keyed[2] ?? ""];
  if (steps === undefined)
    return err(`fieldRef ${path} is not supported for a process of the fleet; there are ${Object.keys(FIELDS).join(", ")}`);
  const value = fieldAt(pod, ...steps);
  return ok(typeof value === "string" ? value : "");
}

const REFERENCE = /\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)/g;

export function referencesIn(text: string): readonly string[] {
  return [...text.matchAll(REFERENCE)].flatMap(([, name]) => name ?? []);
}

/** `$(NAME)` of a known variable is replaced; `$$` is `$`. */
export function expandVariables(text: string, variables: ReadonlyMap<string, string>): Result<string, string> {
  let length = text.length;
  const expanded = text.replaceAll(REFERENCE, (found, name: string | undefined) => {
    const value = name === undefined ? "$" : (variables.get(name) ?? found);
    length += value.length - found.length;
    return length > MAX_TEXT ? "" : value;
  });
  return length > MAX_TEXT ? err(`is longer than ${MAX_TEXT} characters`) : ok(expanded);
}

export function listOf(value: Json, name: string): readonly Json[] {
  const list = field(value, name);
  return Array.isArray(list) ? list : [];
}

export function textAt(value: Json, name: string): string | undefined {
  const text = field(value, name);
  return typeof text === "string" ? text : undefined;
}
