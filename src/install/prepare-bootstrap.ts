/**
 * A cluster that was there before becomes a bootstrap cluster: it gets Lattice's kinds and permissions and Cluster API, unless it has them. `planBootstrap` only reads,
 * and finds everything that would prevent it; `prepareBootstrap` writes the record of the new objects first, and may be repeated after a crash at any write.
 */
import { err, mapErr, ok, type Clock, type Result } from "#base";
import { bootstrapClusterObjects, withoutProviders, type ClusterBundle } from "#bundle";
import { capiNamespace } from "#cluster-compiler";
import { latticeClusters } from "#crds";
import {
  capiClusters,
  capiProviders,
  clusterRoles,
  customResourceDefinitions,
  describeObject,
  groupResourceOf,
  namespaces,
  type KubeObject,
  type Resource,
} from "#kube";
import { applyObjects, ServedKinds, type CallOptions, type KubeClient } from "#kube-client";
import { OPERATOR_NAMESPACE, operatorRbac, WebhookCertificates } from "#operator";
import { presentProviders } from "./bootstrap-providers.ts";
import { createdKey, createdObject, readBootstrapRecord, writeBootstrapRecord, type CreatedObject } from "./bootstrap-record.ts";

const FIELD_MANAGER = "lattice-install";
const ANSWER_WITHIN_MS = 10_000;
const AT_ONCE = 8;
const MOST_NAMED = 3;

export type PreparedCluster = {
  readonly client: KubeClient;
  /** The name of the management cluster. */
  readonly cluster: string;
  /** What it needs; called only if something is missing there. */
  readonly bundle: () => Promise<Result<ClusterBundle, string>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/** "ready": it has Lattice and Cluster API, which stay. "prepare": the objects are created, and removed at the end; none are if it is prepared already. */
export type BootstrapPlan = { readonly kind: "ready" } | { readonly kind: "prepare"; readonly objects: readonly KubeObject[] };

export async function planBootstrap(options: PreparedCluster): Promise<Result<BootstrapPlan, string>> {
  const { client, cluster, signal } = options;
  const call = { signal, timeoutMs: ANSWER_WITHIN_MS };
  const answer = await client.raw("/version", call);
  if (!answer.ok) return err(`the bootstrap cluster cannot be reached: ${answer.error.message}`);
  const record = await readBootstrapRecord(client, call);
  if (!record.ok) return err(`the bootstrap cluster cannot be used: ${record.error}`);
  if (record.value !== undefined && record.value.cluster !== cluster)
    return err(
      `the bootstrap cluster is used for management cluster ${record.value.cluster}; run that command again until it has ended, or use another bootstrap cluster`,
    );
  if (record.value !== undefined && record.value.state !== "preparing") return ok({ kind: "prepare", objects: [] });
  const has = await servedKinds(client, call);
  if (!has.ok) return has;
  if (record.value === undefined && has.value.lattice)
    return has.value.clusterApi ? ok({ kind: "ready" }) : err(`the bootstrap cluster ${LATTICE_WITHOUT_CAPI}`);
  const allowed = await isAdministrator(client, call);
  if (!allowed.ok) return allowed;
  const free = record.value === undefined ? await isNamespaceFree(client, capiNamespace(cluster), call) : ok(undefined);
  if (!free.ok) return free;
  const ours = new Set(record.value?.objects.map(createdKey));
  const bundle = await options.bundle();
  if (!bundle.ok) return bundle;
  const missing = await missingProviders(options, bundle.value, { ours, hasClusterApi: has.value.clusterApi });
  if (!missing.ok) return missing;
  const objects = manifestsOf(options, missing.value);
  if (!objects.ok) return objects;
  const taken = await existing(client, objects.value, ours, call);
  if (!taken.ok) return taken;
  const problem = takenProblem(taken.value);
  if (problem !== undefined) return err(problem);
  const left = new Set(taken.value.map((object) => createdKey(createdObject(object))));
  return ok({ kind: "prepare", objects: objects.value.filter((object) => !left.has(createdKey(createdObject(object)))) });
}

const LATTICE_WITHOUT_CAPI =
  "has Lattice's kinds and no clusters.cluster.x-k8s.io; install Cluster API and the provider there, such as with clusterctl init, or remove Lattice from it";

async function servedKinds(
  client: KubeClient,
  call: CallOptions,
): Promise<Result<{ readonly lattice: boolean; readonly clusterApi: boolean }, string>> {
  const found: boolean[] = [];
  for (const resource of [latticeClusters, capiClusters] as readonly Resource[]) {
    const listed = await client.list(resource, { limit: 1 }, call);
    if (!listed.ok && listed.error.kind !== "not-found")
      return err(`the bootstrap cluster cannot be used: ${groupResourceOf(resource)}: ${listed.error.message}`);
    found.push(listed.ok);
  }
  const [lattice = false, clusterApi = false] = found;
  return ok({ lattice, clusterApi });
}

/** The namespace of the management cluster's objects is deleted at the end, with all that is in it. */
async function isNamespaceFree(client: KubeClient, name: string, call: CallOptions): Promise<Result<void, string>> {
  const found = await client.get(namespaces, { name }, call);
  if (found.ok)
    return err(`the bootstrap cluster has Namespace ${name} already, and would lose it at the end; delete it, or choose another name`);
  return found.error.kind === "not-found" ? ok(undefined) : err(`the bootstrap cluster cannot be used: ${found.error.message}`);
}

const CHECKED_ROLE = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "lattice-install-check" },
  rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
};

/** Roles of Cluster API can be created only by a user who has all that they grant. Nothing is written. */
async function isAdministrator(client: KubeClient, call: CallOptions): Promise<Result<void, string>> {
  const options = { fieldManager: FIELD_MANAGER, force: true, dryRun: true, ...call };
  const answer = await client.apply<KubeObject>(clusterRoles, CHECKED_ROLE, options);
  if (answer.ok) return ok(undefined);
  const { kind, message } = answer.error;
  return kind === "forbidden"
    ? err(
        `the user of the bootstrap cluster's kubeconfig has not all rights there, and installing Cluster API needs ClusterRole cluster-admin: ${message}`,
      )
    : err(`the bootstrap cluster cannot be used: ${message}`);
}

/** The part of the bundle that the cluster does not have. */
async function missingProviders(
  { client, signal }: PreparedCluster,
  bundle: ClusterBundle,
  { ours, hasClusterApi }: { readonly ours: ReadonlySet<string>; readonly hasClusterApi: boolean },
): Promise<Result<ClusterBundle, string>> {
  const listed = await client.list<KubeObject>(capiProviders, {}, { signal, timeoutMs: ANSWER_WITHIN_MS });
  if (!listed.ok && listed.error.kind !== "not-found") return err(`the bootstrap cluster cannot be used: ${listed.error.message}`);
  const isForeign = (object: KubeObject) => !ours.has(createdKey(createdObject(object)));
  const apiVersion = `${capiProviders.group}/${capiProviders.version}`;
  const foreign = (listed.ok ? listed.value.items : [])
    .map((item) => ({ ...item, apiVersion, kind: capiProviders.kind }))
    .filter(isForeign);
  const core = groupResourceOf(capiClusters);
  const definition = { apiVersion: "apiextensions.k8s.io/v1", kind: customResourceDefinitions.kind, name: core };
  if (hasClusterApi && foreign.length === 0 && !ours.has(createdKey(definition)))
    return err(
      `the bootstrap cluster has ${core} and no inventory of clusterctl, so that its version is not known; use another bootstrap cluster`,
    );
  const wanted = bundle.inventory.filter(({ kind }) => kind === capiProviders.kind);
  const present = presentProviders(wanted, foreign);
  if (!present.ok) return present;
  if (present.value.size > 0 && bundle.providers.some(({ version }) => version === "built-in"))
    return err("the bootstrap cluster has Cluster API, and clusters of provider local need the reduced kinds of a laptop fleet");
  return ok(withoutProviders(bundle, present.value));
}

function manifestsOf({ cluster, clock }: PreparedCluster, bundle: ClusterBundle): Result<readonly KubeObject[], string> {
  const webhookCertificates = new WebhookCertificates(clock).for(cluster, bundle);
  if (!webhookCertificates.ok) return webhookCertificates;
  const input = { rbac: operatorRbac(), bundle, webhookCertificates: webhookCertificates.value };
  return mapErr(bootstrapClusterObjects(input), ({ message }) => message);
}

/** Objects of the manifests that exist and were not created by this installation. */
async function existing(
  client: KubeClient,
  objects: readonly KubeObject[],
  ours: ReadonlySet<string>,
  call: CallOptions,
): Promise<Result<readonly KubeObject[], string>> {
  const kinds = new ServedKinds(client, call);
  const queue = objects.filter((object) => !ours.has(createdKey(createdObject(object))));
  const found: KubeObject[] = [];
  let failed: string | undefined;
  const work = async () => {
    for (let next = queue.shift(); next !== undefined && failed === undefined; next = queue.shift()) {
      const resource = await kinds.byKind(next.apiVersion, next.kind);
      if (!resource.ok) failed = resource.error;
      if (!resource.ok || resource.value === undefined) continue;
      const { name, namespace } = next.metadata;
      const live = await client.get(resource.value, namespace === undefined ? { name } : { namespace, name }, call);
      if (live.ok) found.push(next);
      else if (live.error.kind !== "not-found") failed = live.error.message;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed === undefined ? ok(found) : err(`the bootstrap cluster cannot be used: ${failed}`);
}

/** Namespaces that exist are used and stay, as does the definition of the inventory. */
function takenProblem(taken: readonly KubeObject[]): string | undefined {
  const inventory = groupResourceOf(capiProviders);
  const isShared = ({ kind, metadata: { name } }: KubeObject) =>
    (kind === "Namespace" && name !== OPERATOR_NAMESPACE) || (kind === "CustomResourceDefinition" && name === inventory);
  const others = taken.filter((object) => !isShared(object));
  if (others.length === 0) return undefined;
  const more = others.length > MOST_NAMED ? ` and ${others.length - MOST_NAMED} more` : "";
  return `the bootstrap cluster has ${others.slice(0, MOST_NAMED).map(describeObject).join(", ")}${more} already, and would lose ${others.length === 1 ? "it" : "them"} at the end; delete what an earlier installation left, or use another bootstrap cluster`;
}

/** The objects exist afterwards, and the record has them. */
export async function prepareBootstrap(options: PreparedCluster, objects: readonly KubeObject[]): Promise<Result<void, string>> {
  const { client, cluster, clock, signal } = options;
  const call = { signal };
  const before = await readBootstrapRecord(client, call);
  if (!before.ok) return before;
  const known = before.value?.objects ?? [];
  const all = withNew(known, objects.map(createdObject));
  const begun = await writeBootstrapRecord(client, { cluster, state: "preparing", objects: all }, call);
  if (!begun.ok) return begun;
  const applied = await applyObjects(objects, {
    client,
    call,
    force: true,
    fieldManager: FIELD_MANAGER,
    namespace: "default",
    clock,
    onApplied: () => {},
  });
  return applied.ok ? writeBootstrapRecord(client, { cluster, state: "prepared", objects: all }, call) : applied;
}

/** Records objects that are about to be created; those that exist already are not removed at the end. */
export async function recordNewObjects(
  client: KubeClient,
  objects: readonly { readonly resource: Resource; readonly object: KubeObject }[],
  call: CallOptions,
): Promise<Result<void, string>> {
  const record = await readBootstrapRecord(client, call);
  if (!record.ok) return record;
  if (record.value === undefined) return ok(undefined);
  const created: CreatedObject[] = [];
  for (const { resource, object } of objects) {
    const { name, namespace } = object.metadata;
    const live = await client.get(resource, namespace === undefined ? { name } : { namespace, name }, call);
    if (!live.ok && live.error.kind !== "not-found") return err(live.error.message);
    if (!live.ok) created.push(createdObject(object));
  }
  const all = withNew(record.value.objects, created);
  return all.length === record.value.objects.length ? ok(undefined) : writeBootstrapRecord(client, { ...record.value, objects: all }, call);
}

function withNew(known: readonly CreatedObject[], created: readonly CreatedObject[]): readonly CreatedObject[] {
  const keys = new Set(known.map(createdKey));
  return [...known, ...created.filter((object) => !keys.has(createdKey(object)))];
}
