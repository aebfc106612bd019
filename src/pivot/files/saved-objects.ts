/**
 * The objects of a directory or of an archive, verified: every file is in the manifest with its hash, and every entry has its file. Pure.
 *
 * A directory of the real clusterctl has no manifest; then the files are all there is, and nothing shows whether one is missing.
 */
import { collect, err, mapErr, ok, sha256Hex, textOfBytes, type Result } from "#base";
import { apiVersionOf, depthExceeds, fieldAt, isJsonObject, MAX_DEPTH, parseJson, type KubeObject } from "#kube";
import { fileNameOf, isFileName } from "./file-names.ts";
import type { FilesManifest, ManifestEntry } from "./manifest.ts";

export type SavedFile = { readonly name: string; readonly bytes: Uint8Array };
export type SavedObject = { readonly file: string; readonly object: KubeObject; readonly beside: boolean };

/** All problems at once, one sentence each. */
export function savedObjects(
  files: readonly SavedFile[],
  manifest: FilesManifest | undefined,
): Result<readonly SavedObject[], readonly string[]> {
  const entries = new Map((manifest?.objects ?? []).map((entry) => [entry.file, entry]));
  const names = new Set(files.map(({ name }) => name));
  const missing = [...entries.keys()].filter((name) => !names.has(name)).map((name) => `${name} is missing; copy the directory again`);
  const twice = entries.size === (manifest?.objects.length ?? 0) ? [] : ["the manifest names a file twice"];
  const read = collect(
    files.map((file) => {
      const entry = entries.get(file.name);
      const saved = manifest !== undefined && entry === undefined ? err("is not in the manifest; remove it") : readObject(file, entry);
      return mapErr(saved, (problem) => [`${file.name} ${problem}`]);
    }),
  );
  const wrong = [...twice, ...missing, ...(read.ok ? [] : read.error.flat())];
  if (wrong.length > 0 || !read.ok) return err(wrong);
  const same = duplicates(read.value);
  return same.length === 0 ? ok(read.value) : err(same);
}

function readObject({ name, bytes }: SavedFile, entry: ManifestEntry | undefined): Result<SavedObject, string> {
  if (!isFileName(name)) return err("is no name of an object's file (Kind_namespace_name.yaml); remove it");
  if (entry !== undefined && sha256Hex(bytes) !== entry.sha256) return err("was changed since it was written; restore the original");
  const text = textOfBytes(bytes);
  const parsed = text.ok ? parseJson(text.value) : undefined;
  if (parsed?.ok !== true || !isJsonObject(parsed.value) || depthExceeds(parsed.value, MAX_DEPTH)) return err("is no object in JSON");
  const object = parsed.value as unknown as KubeObject;
  const isNamed = [object.apiVersion, object.kind, fieldAt(object, "metadata", "name")].every((value) => typeof value === "string");
  if (!isNamed || !isJsonObject(object.metadata) || hasWrongMetadata(object)) return err("is no Kubernetes object");
  if (fileNameOf(object) !== name) return err(`has another object, whose file is ${fileNameOf(object)}`);
  if (entry !== undefined && (object.metadata.uid !== entry.uid || object.apiVersion !== apiVersionOf(entry.kind)))
    return err("has another object than the manifest");
  return ok({ file: name, object, beside: entry?.beside === true });
}

function hasWrongMetadata({ metadata }: KubeObject): boolean {
  const { uid, namespace, labels, annotations, finalizers, ownerReferences, managedFields, generation } = metadata as Record<
    string,
    unknown
  >;
  const isMap = (value: unknown) =>
    value === undefined || (isJsonObject(value) && Object.values(value).every((text) => typeof text === "string"));
  const owners = ownerReferences ?? [];
  return (
    typeof uid !== "string" ||
    uid === "" ||
    (namespace !== undefined && typeof namespace !== "string") ||
    (generation !== undefined && typeof generation !== "number") ||
    !isMap(labels) ||
    !isMap(annotations) ||
    !(finalizers === undefined || (Array.isArray(finalizers) && finalizers.every((one) => typeof one === "string"))) ||
    !(managedFields === undefined || (Array.isArray(managedFields) && managedFields.every(isJsonObject))) ||
    !(
      Array.isArray(owners) &&
      owners.every((one) => ["apiVersion", "kind", "name", "uid"].every((name) => typeof fieldAt(one, name) === "string"))
    )
  );
}

/** Two files for one uid would give one object two copies. */
function duplicates(saved: readonly SavedObject[]): readonly string[] {
  const seen = new Map<string, string>();
  return saved.flatMap(({ file, object }) => {
    const uid = object.metadata.uid ?? "";
    const other = seen.get(uid);
    seen.set(uid, file);
    return other === undefined ? [] : [`${file} and ${other} are the same object (uid ${uid})`];
  });
}
