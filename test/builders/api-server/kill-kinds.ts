/**
 * The kinds that the load of the kill story writes, and objects that can tell whether they are whole.
 *
 * Everything one write says hangs together: a number in the spec, a text and their digest in the annotations. Half a write does not add up.
 */
import { sha256Hex } from "#base";
import { fieldAt, type Json, type JsonObject } from "#kube";

export type LoadKind = {
  readonly plural: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** The part of the object that carries the number, and how to read it back. */
  readonly body: (number: number) => JsonObject;
  readonly read: (object: Json) => Json | undefined;
};

const template = {
  metadata: { labels: { app: "load" } },
  spec: { containers: [{ name: "main", image: "example.test/load:1" }] },
};

export const LOAD_KINDS: readonly LoadKind[] = [
  {
    plural: "configmaps",
    apiVersion: "v1",
    kind: "ConfigMap",
    namespaced: true,
    body: (number) => ({ data: { number: String(number) } }),
    read: (object) => Number(fieldAt(object, "data", "number")),
  },
  {
    plural: "deployments",
    apiVersion: "apps/v1",
    kind: "Deployment",
    namespaced: true,
    body: (number) => ({ spec: { replicas: number, selector: { matchLabels: { app: "load" } }, template } }),
    read: (object) => fieldAt(object, "spec", "replicas"),
  },
  {
    plural: "leases",
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    namespaced: true,
    body: (number) => ({ spec: { holderIdentity: `holder-${number}`, leaseDurationSeconds: number + 1 } }),
    read: (object) => Number(fieldAt(object, "spec", "leaseDurationSeconds")) - 1,
  },
  {
    plural: "clusterroles",
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    namespaced: false,
    body: (number) => ({ rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"], resourceNames: [`n${number}`] }] }),
    read: (object) => Number(JSON.stringify(fieldAt(object, "rules")).match(/"n(\d+)"/)?.[1]),
  },
];

export function collectionPath({ apiVersion, plural, namespaced }: LoadKind, everywhere = false): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespaced && !everywhere ? `${root}/namespaces/default/${plural}` : `${root}/${plural}`;
}

export type Content = { readonly number: number; readonly text: string };

/** What a write says, without the name: as the body of a create, an update, a merge patch or an apply. */
export function contentFields(kind: LoadKind, name: string, { number, text }: Content): JsonObject & { metadata: JsonObject } {
  return { ...kind.body(number), metadata: { annotations: { text, digest: digestOf(name, number, text) } } };
}

export function loadObject(kind: LoadKind, name: string, content: Content): JsonObject {
  const fields = contentFields(kind, name, content);
  return { ...fields, apiVersion: kind.apiVersion, kind: kind.kind, metadata: { ...fields.metadata, name, labels: { load: "yes" } } };
}

export function isWhole(kind: LoadKind, object: Json): boolean {
  const written = digestOf(metaText(object, "name"), kind.read(object), metaText(object, "annotations", "text"));
  return metaText(object, "uid") !== "" && metaText(object, "annotations", "digest") === written;
}

/** The text is different in every write, so its digest names the write. */
export function digestOf(name: string, number: Json | undefined, text: string): string {
  return sha256Hex(JSON.stringify([name, number ?? null, text]));
}

/** Of metadata; "" when it is not there. */
export function metaText(object: Json | undefined, ...path: readonly string[]): string {
  const text = fieldAt(object, "metadata", ...path);
  return typeof text === "string" ? text : "";
}
