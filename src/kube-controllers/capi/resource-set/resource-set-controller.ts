/** ClusterResourceSets: objects in ConfigMaps and Secrets are applied to matching clusters, once, and a binding records it. */
import { ok, sha256Hex, type Result } from "#base";
import {
  clusterResourceSetBindings,
  clusterResourceSets,
  configMaps,
  isBeingDeleted,
  isJsonObject,
  keyOf,
  matches,
  parseYaml,
  requirementsOf,
  secrets,
  type Json,
  type JsonObject,
  type KubeObject,
} from "#kube";
import type { KubeError } from "#kube-client";
import { again, done, passOf, worstPass, type Pass } from "../../work.ts";
import type { ChildView } from "../children.ts";
import { nowOf, type CapiWork } from "../capi-work.ts";
import { conditionsWith, no, notPaused, yes } from "../conditions.ts";
import { RESOURCE_SET_FINALIZER } from "../names.ts";
import {
  flagAt,
  isInitialized,
  isLive,
  isPaused,
  listAt,
  objectAt,
  ownerReference,
  statusOf,
  textAt,
  type CapiObject,
} from "../objects.ts";
import { secretText } from "../secret-data.ts";
import { ensureMetadata, patchObject, removeFinalizer, writeStatus } from "../writes.ts";
import { applyDocument } from "./apply-document.ts";

const RETRY_MS = 10_000;
const SECRET_TYPE = "addons.cluster.x-k8s.io/resource-set";

export async function resourceSetPass(work: CapiWork, set: CapiObject): Promise<Pass> {
  if (isBeingDeleted(set)) return passOf(await removeFinalizer(work.client, clusterResourceSets, set, RESOURCE_SET_FINALIZER));
  const marked = await ensureMetadata(work.client, clusterResourceSets, set, { finalizer: RESOURCE_SET_FINALIZER });
  if (!marked.ok) return passOf(marked);
  const passes: Pass[] = [];
  const failures: string[] = [];
  for (const cluster of clustersOf(work, marked.value)) {
    const applied = await applyToCluster(work, marked.value, cluster);
    passes.push(applied.pass);
    failures.push(...applied.failures);
  }
  const condition = failures.length === 0 ? yes("ResourcesApplied", "Applied") : no("ResourcesApplied", "NotApplied", failures[0] ?? "");
  const conditions = conditionsWith(marked.value, [condition, notPaused], nowOf(work));
  const status = { ...statusOf(marked.value), observedGeneration: marked.value.metadata.generation ?? 0, conditions };
  passes.push(passOf(await writeStatus(work.client, clusterResourceSets, marked.value, status)));
  return worstPass(passes);
}

/** An empty selector selects no cluster. */
function clustersOf(work: CapiWork, set: CapiObject): readonly CapiObject[] {
  const selector = objectAt(set, "spec", "clusterSelector");
  if (Object.keys(selector).length === 0) return [];
  const requirements = requirementsOf(selector);
  const isTarget = (cluster: CapiObject) =>
    isLive(cluster) && !isPaused(cluster, cluster) && matches(requirements, cluster.metadata.labels ?? {});
  return work.caches.of("clusters").list(set.metadata.namespace).filter(isTarget);
}

type Applied = { readonly pass: Pass; readonly failures: readonly string[] };

async function applyToCluster(work: CapiWork, set: CapiObject, cluster: CapiObject): Promise<Applied> {
  const child = work.children.view(keyOf(cluster));
  if (!isInitialized(cluster) || child === undefined || !child.connected) return { pass: again(RETRY_MS), failures: [] };
  const binding = await ensureBinding(work, set, cluster);
  if (!binding.ok) return { pass: passOf(binding), failures: [] };
  const recorded = bindingOf(binding.value, set);
  const results: Json[] = [];
  const failures: string[] = [];
  for (const resource of listAt(set, "spec", "resources")) {
    const known = recorded.find(
      (one) => textAt(one, "kind") === textAt(resource, "kind") && textAt(one, "name") === textAt(resource, "name"),
    );
    const source = await contentsOf(work, set, resource);
    if (!source.ok) {
      failures.push(source.error);
      if (known !== undefined) results.push(known);
      continue;
    }
    const reconciles = textAt(set, "spec", "strategy") === "Reconcile" && textAt(known, "hash") !== source.value.hash;
    if (known !== undefined && flagAt(known, "applied") && !reconciles) {
      results.push(known);
      continue;
    }
    const error = await applyAll(child, source.value.texts, reconciles);
    if (error !== undefined) failures.push(error);
    results.push({
      ...objectAt({ resource }, "resource"),
      applied: error === undefined,
      hash: source.value.hash,
      lastAppliedTime: nowOf(work),
    });
  }
  const written = await record(work, binding.value, set, results, recorded);
  return { pass: worstPass([passOf(written), failures.length > 0 ? again(RETRY_MS) : done]), failures };
}

const bindingOf = (binding: CapiObject, set: CapiObject): readonly Json[] =>
  listAt(
    listAt(binding, "spec", "bindings").find((one) => textAt(one, "clusterResourceSetName") === set.metadata.name),
    "resources",
  );

async function ensureBinding(work: CapiWork, set: CapiObject, cluster: CapiObject): Promise<Result<CapiObject, KubeError>> {
  const { name, namespace } = cluster.metadata;
  const read = await work.client.get<CapiObject>(clusterResourceSetBindings, { namespace, name });
  if (read.ok || read.error.kind !== "not-found") return read;
  return work.client.create<CapiObject>(clusterResourceSetBindings, {
    apiVersion: "addons.cluster.x-k8s.io/v1beta2",
    kind: "ClusterResourceSetBinding",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ownerReferences: [ownerReference(cluster), ownerReference(set)] },
    spec: { clusterName: name, bindings: [] },
  });
}

type Contents = { readonly texts: readonly string[]; readonly hash: string };

async function contentsOf(work: CapiWork, set: CapiObject, resource: Json): Promise<Result<Contents, string>> {
  const [kind = "", name = ""] = [textAt(resource, "kind"), textAt(resource, "name")];
  const key = { namespace: set.metadata.namespace, name };
  const read = kind === "Secret" ? await work.client.get<KubeObject>(secrets, key) : await work.client.get<KubeObject>(configMaps, key);
  if (!read.ok) return { ok: false, error: `${kind} ${name}: ${read.error.kind === "not-found" ? "does not exist" : read.error.message}` };
  if (kind === "Secret" && textAt(read.value, "type") !== SECRET_TYPE)
    return { ok: false, error: `Secret ${name}: its type must be ${SECRET_TYPE}` };
  const keys = Object.keys(objectAt(read.value, "data")).toSorted();
  const texts = keys.flatMap((one) => (kind === "Secret" ? secretText(read.value, one) : textAt(read.value, "data", one)) ?? []);
  return ok({ texts, hash: `sha256:${sha256Hex(texts.join("\n"))}` });
}

async function applyAll(child: ChildView, texts: readonly string[], update: boolean): Promise<string | undefined> {
  for (const text of texts) {
    const documents = parseYaml(text);
    if (!documents.ok) return `a document is not YAML: ${documents.error.message}`;
    for (const document of documents.value.filter(isJsonObject)) {
      const applied = await applyDocument(child.client, document, update);
      if (!applied.ok) return applied.error;
    }
  }
  return undefined;
}

function record(
  work: CapiWork,
  binding: CapiObject,
  set: CapiObject,
  results: readonly Json[],
  before: readonly Json[],
): Promise<Result<CapiObject, KubeError>> {
  if (JSON.stringify(results) === JSON.stringify(before)) return Promise.resolve(ok(binding));
  const others = listAt(binding, "spec", "bindings").filter((one) => textAt(one, "clusterResourceSetName") !== set.metadata.name);
  const spec: JsonObject = { bindings: [...others, { clusterResourceSetName: set.metadata.name, resources: results }] };
  return patchObject(work.client, clusterResourceSetBindings, binding, { spec });
}
