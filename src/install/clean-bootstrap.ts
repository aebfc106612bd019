/** A bootstrap cluster loses what an installation created in it, by its record; all else stays. May be repeated after a crash at any write. */
import { err, ok, sleep, type Clock, type Result } from "#base";
import { capiNamespace } from "#cluster-compiler";
import { latticeClusters, latticeKinds } from "#crds";
import {
  apiVersionOf,
  capiClusters,
  customResourceDefinitions,
  groupResourceOf,
  isBeingDeleted,
  namespaces,
  type KubeObject,
  type Resource,
} from "#kube";
import { ServedKinds, type CallOptions, type KubeClient } from "#kube-client";
import {
  createdKey,
  deleteBootstrapRecord,
  readBootstrapRecord,
  writeBootstrapRecord,
  type BootstrapRecord,
  type CreatedObject,
} from "./bootstrap-record.ts";

export type CleanOptions = {
  readonly client: KubeClient;
  /** Its name as a cell. */
  readonly cell: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

const LOOK_MS = 500;
const MOST_LOOKS = 120;
/** Of one kind: more than an installation has. */
const MOST_LISTED = 500;

export async function cleanBootstrap(options: CleanOptions): Promise<Result<void, string>> {
  const { client, signal } = options;
  const call = { signal };
  const found = await readBootstrapRecord(client, call);
  if (!found.ok) return found;
  const record = found.value;
  if (record === undefined) return ok(undefined);
  const unused = record.state === "removing" ? ok(undefined) : await isUnused(options, record);
  if (!unused.ok) return unused;
  const begun = await writeBootstrapRecord(client, { ...record, state: "removing" }, call);
  if (!begun.ok) return begun;
  const forgotten = await deleteOwnClusters(options, record);
  if (!forgotten.ok) return forgotten;
  const removed = await removeObjects(client, record, call);
  if (!removed.ok) return removed;
  const gone = await untilGone(options, record);
  return gone.ok ? deleteBootstrapRecord(client, call) : gone;
}

const definitionOf = (resource: Resource): string =>
  createdKey({ apiVersion: "apiextensions.k8s.io/v1", kind: customResourceDefinitions.kind, name: groupResourceOf(resource) });

function ownsDefinition({ objects }: BootstrapRecord, resource: Resource): boolean {
  return objects.some((object) => createdKey(object) === definitionOf(resource));
}

function isRecorded({ objects }: BootstrapRecord, resource: Resource, { namespace, name }: KubeObject["metadata"]): boolean {
  const key = createdKey({ apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name });
  return objects.some((object) => createdKey(object) === key);
}

/** What others have made with the kinds of this installation would be deleted with them. */
async function isUnused({ client, cell, signal }: CleanOptions, record: BootstrapRecord): Promise<Result<void, string>> {
  const own = [cell, record.cluster];
  for (const resource of [...latticeKinds.map((kind): Resource => kind.resource), capiClusters]) {
    if (!ownsDefinition(record, resource)) continue;
    const listed = await client.list<KubeObject>(resource, { limit: MOST_LISTED }, { signal });
    if (!listed.ok && listed.error.kind !== "not-found") return err(listed.error.message);
    const other = (listed.ok ? listed.value.items : []).find(
      ({ metadata }) => !isRecorded(record, resource, metadata) && !(resource.kind === latticeClusters.kind && own.includes(metadata.name)),
    );
    if (other !== undefined)
      return err(
        `the bootstrap cluster has ${resource.kind} ${other.metadata.name}, which needs what this installation would remove; delete or move it, then run the same command again`,
      );
  }
  return ok(undefined);
}

/** Their operator has stopped: nothing else removes their finalizers. */
async function deleteOwnClusters({ client, cell, signal }: CleanOptions, record: BootstrapRecord): Promise<Result<void, string>> {
  for (const name of ownsDefinition(record, latticeClusters) ? [cell, record.cluster] : []) {
    const found = await client.get(latticeClusters, { name }, { signal });
    if (!found.ok && found.error.kind === "not-found") continue;
    const patch = { metadata: { finalizers: null } };
    const released = await client.patch(latticeClusters, { name }, { type: "merge", patch }, { signal });
    if (!released.ok && released.error.kind !== "not-found") return err(`LatticeCluster ${name}: ${released.error.message}`);
    const removed = await client.delete(latticeClusters, { name }, { signal });
    if (!removed.ok && removed.error.kind !== "not-found") return err(`LatticeCluster ${name}: ${removed.error.message}`);
  }
  const place = capiNamespace(record.cluster);
  const removed = await client.delete(namespaces, { name: place }, { signal });
  return removed.ok || removed.error.kind === "not-found" ? ok(undefined) : err(`namespace ${place}: ${removed.error.message}`);
}

/** Webhooks first, since their servers go; definitions last. Objects of namespaces that go need no request of their own. */
async function removeObjects(client: KubeClient, { objects }: BootstrapRecord, call: CallOptions): Promise<Result<void, string>> {
  const kinds = new ServedKinds(client, call);
  const going = new Set(objects.filter(isNamespace).map(({ name }) => name));
  const needed = objects.filter(({ namespace }) => namespace === undefined || !going.has(namespace));
  for (const { apiVersion, kind, namespace, name } of needed.toReversed().toSorted((a, b) => rankOf(a) - rankOf(b))) {
    const resource = await kinds.byKind(apiVersion, kind);
    if (!resource.ok) return resource;
    if (resource.value === undefined) continue;
    const removed = await client.delete(resource.value, namespace === undefined ? { name } : { namespace, name }, call);
    if (!removed.ok && removed.error.kind !== "not-found") return err(`${kind} ${name} cannot be deleted: ${removed.error.message}`);
  }
  return ok(undefined);
}

function isNamespace({ kind, apiVersion }: CreatedObject): boolean {
  return kind === "Namespace" && apiVersion === "v1";
}

function rankOf({ kind }: CreatedObject): number {
  if (kind === "ValidatingWebhookConfiguration" || kind === "MutatingWebhookConfiguration") return 0;
  return kind === "CustomResourceDefinition" ? 2 : 1;
}

/** Namespaces and definitions go after their contents. */
async function untilGone({ client, clock, signal }: CleanOptions, record: BootstrapRecord): Promise<Result<void, string>> {
  const names = (kind: string) => record.objects.filter((object) => object.kind === kind).map(({ name }) => name);
  const waited: readonly (readonly [Resource, readonly string[]])[] = [
    [namespaces, [...names("Namespace"), capiNamespace(record.cluster)]],
    [customResourceDefinitions, names("CustomResourceDefinition")],
  ];
  let left = "";
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    if (look > 0 && !(await sleep(clock, LOOK_MS, signal))) break;
    const one = await firstLeft(client, waited, signal);
    if (!one.ok) return one;
    if (one.value === undefined) return ok(undefined);
    left = one.value;
  }
  return err(`${left} of the bootstrap cluster is still being deleted`);
}

async function firstLeft(
  client: KubeClient,
  waited: readonly (readonly [Resource, readonly string[]])[],
  signal: AbortSignal,
): Promise<Result<string | undefined, string>> {
  for (const [resource, names] of waited) {
    const live = await client.list<KubeObject>(resource, {}, { signal });
    if (!live.ok) return err(live.error.message);
    const found = live.value.items.find(({ metadata }) => names.includes(metadata.name));
    if (found !== undefined && isBeingDeleted(found)) return ok(`${resource.kind} ${found.metadata.name}`);
    if (found !== undefined) return err(`${resource.kind} ${found.metadata.name} of the bootstrap cluster was created again; delete it`);
  }
  return ok(undefined);
}
