/**
 * Objects whose kinds are defined in the same stream. `kubectl apply` resolves the kinds of all documents before it applies the first one, so it would
 * refuse them on a new cluster. They are part of the stream as data, in a ConfigMap, and the operator of the cluster applies them as soon as their
 * kinds are served. Pure.
 */
import { err, ok, type Result } from "#base";
import { describeObject, field, fieldAt, formatYamlDocuments, type ConfigMap, type KubeObject } from "#kube";
import { readObjects } from "./component-objects.ts";

export const DEFERRED_OBJECTS = "lattice-deferred-objects";
const KEY = "objects.yaml";
/** `kubectl apply` copies the ConfigMap into an annotation, which may have 256 KiB. */
const MAX_TEXT = 200_000;

/**
 * Groups whose kinds are never deferred. The operator has more rights than those who may write ConfigMaps of its namespace, and must not apply for them what
 * opens the mesh or makes workloads. (Groups of Kubernetes itself have no dot, or end with ".k8s.io"; those of Cluster API end with "x-k8s.io".)
 */
const NEVER_DEFERRED = /^[^.]*$|\.k8s\.io$|(^|\.)(lattice\.dev|cilium\.io|istio\.io)$/;

/** Where the ConfigMap is, and the ServiceAccount that applies its objects. */
export type DeferredTo = { readonly namespace: string; readonly serviceAccount: string };

/** The same objects, with those of new kinds in a ConfigMap, and a role that permits to apply them and nothing else. */
export function deferCustomObjects(objects: readonly KubeObject[], to: DeferredTo): Result<readonly KubeObject[], string> {
  const definitions = new Map(objects.flatMap((object) => (isDefinition(object) ? [[definedKind(object), object] as const] : [])));
  const isDeferred = (object: KubeObject) => definitions.has(kindOf(object));
  const deferred = objects.filter(isDeferred);
  if (deferred.length === 0) return ok(objects);
  const refused = refusalOf(deferred);
  if (refused !== undefined) return err(refused);
  const text = formatYamlDocuments(deferred);
  if (text.length > MAX_TEXT) return err(`the objects of kinds that the manifests define have more than ${MAX_TEXT} characters`);
  const used = [...new Set(deferred.map(kindOf))].flatMap((kind) => definitions.get(kind) ?? []);
  return ok([...objects.filter((object) => !isDeferred(object)), ...roleFor(used, to), configMapOf(text, to)]);
}

export function parseDeferredObjects({ data }: ConfigMap): Result<readonly KubeObject[], string> {
  const text = data?.[KEY];
  if (text === undefined) return err(`ConfigMap ${DEFERRED_OBJECTS} has no key ${KEY}`);
  const read = readObjects(text, `ConfigMap ${DEFERRED_OBJECTS}`);
  if (!read.ok) return read;
  const refused = refusalOf(read.value.objects);
  return refused === undefined ? ok(read.value.objects) : err(refused);
}

function refusalOf(objects: readonly KubeObject[]): string | undefined {
  const refused = objects.find((object) => NEVER_DEFERRED.test(groupOf(object)));
  return refused === undefined ? undefined : `${describeObject(refused)} cannot be in ConfigMap ${DEFERRED_OBJECTS}: apply it yourself`;
}

function isDefinition({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion.startsWith("apiextensions.k8s.io/") && kind === "CustomResourceDefinition";
}

function definedKind(definition: KubeObject): string {
  return `${textAt(definition, "spec", "group")} ${textAt(definition, "spec", "names", "kind")}`;
}

function groupOf({ apiVersion }: KubeObject): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}

function kindOf(object: KubeObject): string {
  return `${groupOf(object)} ${object.kind}`;
}

function textAt(object: KubeObject, ...path: readonly string[]): string {
  const value = fieldAt(object, ...path);
  return typeof value === "string" ? value : "";
}

function configMapOf(text: string, { namespace }: DeferredTo): KubeObject {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: DEFERRED_OBJECTS, namespace } };
  return Object.assign(map, { data: { [KEY]: text } });
}

function roleFor(definitions: readonly KubeObject[], { namespace, serviceAccount }: DeferredTo): readonly KubeObject[] {
  const rbac = "rbac.authorization.k8s.io";
  const metadata = { name: DEFERRED_OBJECTS };
  const rules = definitions.map((definition) => ({
    apiGroups: [textAt(definition, "spec", "group")],
    resources: [field(fieldAt(definition, "spec", "names"), "plural") ?? ""],
    verbs: ["create", "get", "patch"],
  }));
  return [
    Object.assign({ apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata }, { rules }),
    Object.assign(
      { apiVersion: `${rbac}/v1`, kind: "ClusterRoleBinding", metadata },
      {
        roleRef: { apiGroup: rbac, kind: "ClusterRole", name: DEFERRED_OBJECTS },
        subjects: [{ kind: "ServiceAccount", name: serviceAccount, namespace }],
      },
    ),
  ];
}
