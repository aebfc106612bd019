/**
 * Reads a cluster for the commands: Lattice's resources as documents, the compiled objects, and the policies that decide which service
 * reaches which.
 *
 * A kind that the cluster does not serve has no objects. One that may not be read is reported, not treated as empty.
 */
import { err, ok, silentLogger, type Result } from "#base";
import { compiledKinds, isCompiled, policyKinds, type WorldDocument } from "#compile";
import { HASH_KEY_SECRET } from "#controllers";
import { latticeEnvironments, latticeExternalServices, latticeSecretBindings, latticeServiceConfigs, latticeServices } from "#crds";
import {
  apiVersionOf,
  deployments,
  describeObject,
  field,
  fieldAt,
  groupResourceOf,
  parseKey,
  type Json,
  type KubeObject,
  type Resource,
} from "#kube";
import type { ClusterConfig, KubeClient } from "#kube-client";
import { PROVISIONER_LABEL, SHAREABLE_LABEL } from "#service-compiler";
import { connect, type ClusterFlags } from "./cluster.ts";
import type { CliIo } from "./io.ts";

export type Live<T> = { readonly value: T; /** One sentence for each kind that could not be read. */ readonly notes: readonly string[] };

/** Opens a connection, and closes it when `use` has ended. */
export async function withCluster<T>(
  io: CliIo,
  flags: ClusterFlags & { readonly output?: string },
  use: (client: KubeClient, config: ClusterConfig) => Promise<Result<T, string>>,
): Promise<Result<T, string>> {
  const connection = await connect(io, flags, { logger: silentLogger, local: { report: flags.output !== "json" } });
  if (!connection.ok) return connection;
  try {
    return await use(connection.value.client, connection.value.config);
  } finally {
    await connection.value.client.close();
  }
}

const CONFIG_MAPS = compiledKinds.filter(({ kind }) => kind === "ConfigMap");
const SECRETS = compiledKinds.filter(({ kind }) => kind === "Secret");
const LATTICE = [
  latticeEnvironments,
  latticeServices,
  latticeExternalServices,
  latticeServiceConfigs,
  latticeSecretBindings,
] as readonly Resource[];

/** Lattice's resources, the resource types that ConfigMaps declare, and the Deployments that services patch. */
export async function readLatticeResources(
  client: KubeClient,
  signal: AbortSignal,
): Promise<Result<Live<readonly WorldDocument[]>, string>> {
  const own = await listKinds(client, LATTICE, { signal });
  if (!own.ok) return own;
  const declared = await listKinds(client, CONFIG_MAPS, { signal, labelSelector: PROVISIONER_LABEL });
  if (!declared.ok) return declared;
  const patched = await readPatched(client, own.value.value, signal);
  if (!patched.ok) return patched;
  const documents = [...own.value.value, ...declared.value.value, ...patched.value.value].map(asDocument);
  return ok({ value: documents, notes: [...own.value.notes, ...declared.value.notes, ...patched.value.notes] });
}

/** The Deployments that services in patch mode name. A Deployment that does not exist is left out. */
async function readPatched(
  client: KubeClient,
  resources: readonly KubeObject[],
  signal: AbortSignal,
): Promise<Result<Live<readonly KubeObject[]>, string>> {
  const found: KubeObject[] = [];
  const names = new Set(resources.flatMap((resource) => patchedName(resource) ?? []));
  for (const name of names) {
    const answer = await client.get<KubeObject>(deployments, parseKey(name), { signal });
    if (answer.ok) found.push({ ...answer.value, apiVersion: apiVersionOf(deployments), kind: deployments.kind });
    else if (answer.error.kind === "forbidden") return ok({ value: found, notes: [mayNotBeRead(deployments)] });
    else if (answer.error.kind !== "not-found") return err(answer.error.message);
  }
  return ok({ value: found, notes: [] });
}

function patchedName(object: KubeObject): string | undefined {
  const ref = fieldAt(object, "spec", "workloadRef");
  const [namespace, name] = [field(ref, "namespace"), field(ref, "name")];
  return object.kind === "LatticeService" && typeof namespace === "string" && typeof name === "string" ? `${namespace}/${name}` : undefined;
}

function asDocument(object: KubeObject): WorldDocument {
  return { value: object as unknown as Json, from: describeObject(object) };
}

/** Secrets that values are read from: all but the compiled ones. */
export async function readSecretObjects(client: KubeClient, signal: AbortSignal): Promise<Result<Live<readonly WorldDocument[]>, string>> {
  const secrets = await listKinds(client, SECRETS, { signal });
  if (!secrets.ok) return secrets;
  return ok({ value: secrets.value.value.filter((object) => !isCompiled(object)).map(asDocument), notes: secrets.value.notes });
}

const MOUNTABLE = compiledKinds.filter(({ kind }) => kind === "ConfigMap" || kind === "PersistentVolumeClaim");

/** ConfigMaps and claims that are labelled as mountable. */
export async function readShareable(client: KubeClient, signal: AbortSignal): Promise<Result<Live<readonly WorldDocument[]>, string>> {
  const found = await listKinds(client, MOUNTABLE, { signal, labelSelector: SHAREABLE_LABEL });
  return found.ok ? ok({ value: found.value.value.map(asDocument), notes: found.value.notes }) : found;
}

const NAMESPACES = compiledKinds.filter(({ kind }) => kind === "Namespace");

/**
 * The objects that Lattice compiled and applied, and every namespace, since another client may have labelled it. Objects that another
 * controller derived from compiled objects have their labels too, and are left out.
 */
export async function readCompiled(client: KubeClient, signal: AbortSignal): Promise<Result<Live<readonly KubeObject[]>, string>> {
  const namespaces = await listKinds(client, NAMESPACES, { signal });
  if (!namespaces.ok) return namespaces;
  const kinds = compiledKinds.filter(({ kind }) => kind !== "Namespace");
  const found = await listKinds(client, kinds, { signal, labelSelector: "app.kubernetes.io/managed-by=lattice" });
  if (!found.ok) return found;
  const value = [...namespaces.value.value, ...found.value.value.filter(isOwn)];
  return ok({ value, notes: [...namespaces.value.notes, ...found.value.notes] });
}

/** The policies that close a namespace are owned by it. The key of the config hash belongs to the operator and is not compiled. */
function isOwn({ kind, metadata }: KubeObject): boolean {
  if (kind === "Secret" && metadata.name === HASH_KEY_SECRET) return false;
  const { ownerReferences: owners = [] } = metadata;
  return owners.length === 0 || owners.some((owner) => owner.apiVersion.startsWith("lattice.dev/") || owner.kind === "Namespace");
}

/** Policies of any owner. */
export function readPolicies(client: KubeClient, signal: AbortSignal): Promise<Result<Live<readonly KubeObject[]>, string>> {
  return listKinds(client, policyKinds, { signal });
}

/**
 * All objects of a kind that the caller may read: of the whole cluster, or, without that permission, of one namespace. The error names what
 * is missing: the permission, or the kind.
 */
export async function listNamespaced(
  client: KubeClient,
  resource: Resource,
  { signal, namespace }: { readonly signal: AbortSignal; readonly namespace: string | undefined },
): Promise<Result<readonly KubeObject[], string>> {
  const all = await listAll(client, resource, { signal });
  if (all.ok) return all;
  const kind = groupResourceOf(resource);
  if (all.error.kind === "not-found")
    return err(`the cluster has no ${kind}: install them with lattice crds | kubectl apply --server-side -f -`);
  if (all.error.kind !== "forbidden") return err(all.error.message);
  // environments are cluster-scoped; without permission to read them the rest is shown
  if (!resource.namespaced) return ok([]);
  if (namespace === undefined) return err(`${kind} may not be listed in all namespaces; name one with -n`);
  const some = await listAll(client, resource, { signal, namespace });
  return some.ok ? some : err(some.error.message);
}

type Listing = { readonly signal: AbortSignal; readonly labelSelector?: string; readonly namespace?: string };

async function listKinds(
  client: KubeClient,
  kinds: readonly Resource[],
  listing: Listing,
): Promise<Result<Live<readonly KubeObject[]>, string>> {
  const objects: KubeObject[] = [];
  const notes: string[] = [];
  for (const resource of kinds) {
    const all = await listAll(client, resource, listing);
    if (all.ok) objects.push(...all.value);
    else if (all.error.kind === "forbidden") notes.push(mayNotBeRead(resource));
    else if (all.error.kind !== "not-found") return err(all.error.message);
  }
  return ok({ value: objects, notes });
}

function mayNotBeRead(resource: Resource): string {
  return `${groupResourceOf(resource)} may not be read with these credentials, and are left out`;
}

const PAGE = 500;

async function listAll(client: KubeClient, resource: Resource, { signal, ...selection }: Listing) {
  const items: KubeObject[] = [];
  let next: string | undefined;
  do {
    const page = await client.list<KubeObject>(resource, { limit: PAGE, continue: next, ...selection }, { signal });
    if (!page.ok) return page;
    // items of a list have no apiVersion and kind
    items.push(...page.value.items.map((item) => ({ ...item, apiVersion: apiVersionOf(resource), kind: resource.kind })));
    next = page.value.metadata.continue === "" ? undefined : page.value.metadata.continue;
  } while (next !== undefined);
  return ok(items);
}
