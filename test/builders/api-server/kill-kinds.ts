/**
 * The kinds that the load of the kill story writes, and objects that hold a digest of their content.
 *
 * Each write has a number in the spec, and a text and the digest of both in the annotations, so that a partial write is detected.
 */
import { sha256Hex } from "#base";
import { fieldAt, type Json, type JsonObject } from "#kube";

export type LoadKind = {
  readonly plural: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** The fields that hold the number, and how to read it from an object. */
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

export type LoadContent = { readonly number: number; readonly text: string };

/** The content of a write without the name: as the body of a create, an update, a merge patch or an apply. */
export function contentFields(kind: LoadKind, name: string, { number, text }: LoadContent): JsonObject & { metadata: JsonObject } {
  return { ...kind.body(number), metadata: { annotations: { text, digest: digestOf(name, number, text) } } };
}

export function loadObject(kind: LoadKind, name: string, content: LoadContent): JsonObject {
  const fields = contentFields(kind, name, content);
  return { ...fields, apiVersion: kind.apiVersion, kind: kind.kind, metadata: { ...fields.metadata, name, labels: { load: "yes" } } };
}

export function isWhole(kind: LoadKind, object: Json): boolean {
  const written = digestOf(metaText(object, "name"), kind.read(object), metaText(object, "annotations", "text"));
  return metaText(object, "uid") !== "" && metaText(object, "annotations", "digest") === written;
}

/** The text differs in every write, so the digest identifies the write. */
export function digestOf(name: string, number: Json | undefined, text: string): string {
  return sha256Hex(JSON.stringify([name, number ?? null, text]));
}

/** A text of metadata; "" when it is absent. */
export function metaText(object: Json | undefined, ...path: readonly string[]): string {
  const text = fieldAt(object, "metadata", ...path);
  return typeof text === "string" ? text : "";
}
