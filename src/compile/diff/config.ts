/**
 * Config of pods: which objects a pod reads, and which object holds each value. Contents are compared instead of hashes, since a hash from another cluster
 * uses another key.
 */
import { base64OfText, bytesOfBase64, textOfBytes } from "#base";
import { fieldAt, isJsonObject, jsonEqual, type Json, type KubeObject } from "#kube";
import { PLACEHOLDER_MARKS } from "../secret-store.ts";

/** Objects that hold config, by `Kind namespace/name`. */
export type Objects = ReadonlyMap<string, KubeObject>;

/** `ConfigMap prod/api-env`, for each that the pods of a Deployment read. */
export function configRead(deployment: KubeObject): readonly string[] {
  const namespace = deployment.metadata.namespace ?? "default";
  const pod = fieldAt(deployment, "spec", "template", "spec");
  const containers = [...listAt(pod, "initContainers"), ...listAt(pod, "containers")];
  const names = [
    ...containers
      .flatMap((container) => listAt(container, "envFrom"))
      .flatMap((from) => [named("ConfigMap", fieldAt(from, "configMapRef", "name")), named("Secret", fieldAt(from, "secretRef", "name"))]),
    ...listAt(pod, "volumes").flatMap((volume) => [
      named("ConfigMap", fieldAt(volume, "configMap", "name")),
      named("Secret", fieldAt(volume, "secret", "secretName")),
    ]),
  ];
  const texts = names.flatMap((name) => (name === undefined ? [] : [`${name.kind} ${namespace}/${name.name}`]));
  // an ExternalSecret has the name of the Secret that it creates
  return [...new Set(texts.flatMap((text) => (text.startsWith("Secret ") ? [text, `External${text}`] : [text])))];
}

function named(kind: string, name: unknown): { readonly kind: string; readonly name: string } | undefined {
  return typeof name === "string" ? { kind, name } : undefined;
}

function listAt(value: unknown, name: string): readonly Json[] {
  const list = fieldAt(value, name);
  return Array.isArray(list) ? (list as readonly Json[]) : [];
}

export function sameContent(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  if (before === undefined || after === undefined) return before === after;
  if (before.kind === "ExternalSecret") return jsonEqual(fieldAt(before, "spec") ?? null, fieldAt(after, "spec") ?? null);
  const [old, own] = [entriesOf(before), entriesOf(after)];
  return old.size === own.size && [...own].every(([key, text]) => old.has(key) && sameText(old.get(key), text));
}

/** A placeholder secret has an unknown value, which is assumed to be unchanged. */
export function sameText(before: Json | undefined, after: Json | undefined): boolean {
  return jsonEqual(before ?? null, after ?? null) || isMarked(before) || isMarked(after);
}

function isMarked(data: Json | undefined): boolean {
  const bytes = typeof data === "string" ? bytesOfBase64(data) : undefined;
  const text = bytes?.ok === true ? textOfBytes(bytes.value) : undefined;
  return text?.ok === true && PLACEHOLDER_MARKS.some((mark) => text.value.includes(mark));
}

function entriesOf(object: KubeObject): ReadonlyMap<string, Json> {
  const [data, texts] = [fieldAt(object, "data"), fieldAt(object, "stringData")];
  const entries = new Map<string, Json>();
  for (const [key, value] of Object.entries(isJsonObject(data) ? data : {})) entries.set(key, value ?? null);
  for (const [key, text] of Object.entries(isJsonObject(texts) ? texts : {})) {
    if (typeof text === "string") entries.set(key, base64OfText(text));
  }
  return entries;
}

/** A value that moved from a ConfigMap to a Secret, or from a Secret to a ConfigMap. */
export type Move = {
  /** Name of the variable, or key of the file. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
};

const SUFFIX = /-(env|secrets|external-secrets|files|files-secret|files-external)$/;

export function movedValues(before: Objects, after: Objects): readonly Move[] {
  const [old, own] = [homes(before), homes(after)];
  return [...own].flatMap(([value, to]) => {
    const from = old.get(value);
    if (from === undefined || from.split(" ")[0] === to.split(" ")[0]) return [];
    return [{ name: value.slice(value.lastIndexOf("\0") + 1), from, to }];
  });
}

/** The object that holds each value: by namespace, owner, variable or file, and name. */
function homes(objects: Objects): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [id, object] of objects) {
    const suffix = SUFFIX.exec(object.metadata.name)?.[1];
    if (suffix === undefined || !["ConfigMap", "Secret", "ExternalSecret"].includes(object.kind)) continue;
    const owner = object.metadata.name.slice(0, -suffix.length - 1);
    const what = suffix.startsWith("files") ? "file" : "variable";
    const keys = object.kind === "ExternalSecret" ? fieldAt(object, "spec", "target", "template", "data") : fieldAt(object, "data");
    for (const key of Object.keys(isJsonObject(keys) ? keys : {})) found.set([object.metadata.namespace, owner, what, key].join("\0"), id);
  }
  return found;
}
