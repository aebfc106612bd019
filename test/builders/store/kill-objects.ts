/** Objects with a digest of their content, and the acknowledgements that the killed process records. */
import { sha256Hex } from "#base";
import { fieldAt, parseKey, type KubeObject } from "#kube";
import { textAt } from "./objects.ts";

export const KILL_COLLECTION = "/configmaps";

export type Acknowledged = { readonly revision: number; readonly key: string; readonly deleted: boolean };

export function killObject(key: string, revision: number, text: string): KubeObject {
  const { namespace = "", name } = parseKey(key);
  const metadata = { name, namespace, resourceVersion: String(revision) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { text, digest: sha256Hex(`${key} ${revision} ${text}`) } } as KubeObject;
}

export function isWhole(object: KubeObject): boolean {
  const { namespace, name, resourceVersion } = object.metadata;
  const text = textAt(object, "text");
  return fieldAt(object, "data", "digest") === sha256Hex(`${namespace}/${name} ${resourceVersion} ${text}`);
}

export function acknowledgement({ revision, key, deleted }: Acknowledged): string {
  return `${revision} ${key} ${deleted ? "deleted" : "written"}\n`;
}

/** The kill may truncate the last line; without its line break it does not count. */
export function parseNotes(text: string): { readonly opened: boolean; readonly acknowledged: readonly Acknowledged[] } {
  const lines = text.split("\n").slice(0, -1);
  const acknowledged = lines.slice(1).map((line) => {
    const [revision, key = "", what] = line.split(" ");
    return { revision: Number(revision), key, deleted: what === "deleted" };
  });
  return { opened: lines.length > 0, acknowledged };
}
