/** Reads both clusters of an installation: what `nextInstallStep` and `nextUninstallStep` decide from. */
import { andThen, bytesOfBase64, err, ok, textOfBytes, type Result } from "#base";
import { capiNamespace } from "#cluster-compiler";
import { IDENTITY_CONFIG_MAP, PARENT_CONFIG_SECRET } from "#controllers";
import { latticeClusters, type LatticeCluster } from "#crds";
import {
  capiClusters,
  configMaps,
  describeObject,
  findCondition,
  isBeingDeleted,
  namespaces,
  fieldAt,
  secrets,
  secretsByMetadata,
  type KubeObject,
  type ObjectKey,
  type Resource,
} from "#kube";
import type { KubeClient } from "#kube-client";
import { OPERATOR_NAMESPACE } from "#operator";
import { MOVE_JOURNAL, MOVE_RECORD, ownershipOf, type NamespaceOwnership } from "#pivot";
import { besideNote, besideProblem, besideState } from "./beside.ts";
import { readBootstrapRecord } from "./bootstrap-record.ts";
import type { BootstrapView, FileView, InstallView, ManagementView, ClusterObservation, RequestedCluster } from "./decide.ts";
import { changeText, fileChanges, ownDifferences } from "./file-changes.ts";
import type { ManagementFile } from "./management-file.ts";
import type { BootstrapHost, FindCluster, ManagementAccess } from "./ports.ts";
import { remainingObjects } from "./remaining-objects.ts";

/** On the LatticeCluster that an installation creates in the bootstrap cluster. */
export const INSTALLED_ANNOTATION = "lattice.dev/installed-by";
export const INSTALLER = "lattice-install";

/** Why a cell whose listeners run is not Ready. */
const NODES_NOT_READY = "NodesNotReady";

/** A cluster that has stopped must not delay the next look for longer. */
const ANSWER_WITHIN_MS = 10_000;

export type ObserveOptions = {
  readonly name: string;
  readonly host: BootstrapHost;
  readonly management: ManagementAccess;
  readonly signal: AbortSignal;
  /** As written, to be compared with what exists. */
  readonly file?: ManagementFile | undefined;
  /** What differs from the file and is left as it is. */
  readonly onNote?: ((text: string) => void) | undefined;
};

export async function observeInstall(options: ObserveOptions): Promise<InstallView> {
  const { name, host, management, signal } = options;
  const [bootstrap, own] = await Promise.all([
    observed(host.find, signal, (client) => observeBootstrap(client, options)),
    observed(management.find, signal, (client) => observeManagement(client, options)),
  ]);
  return { name, bootstrapName: host.name, bootstrap, management: own.state === "unknown" ? { ...own, ifGone: management.ifGone } : own };
}

async function observed<T>(
  find: FindCluster,
  signal: AbortSignal,
  read: (client: KubeClient) => Promise<Result<T, string>>,
): Promise<ClusterObservation<T>> {
  const found = await find(signal);
  if (!found.ok) return { state: "unknown", why: found.error };
  if (found.value === undefined) return { state: "absent" };
  const view = await read(found.value);
  return view.ok ? { state: "there", view: view.value } : { state: "unknown", why: view.error };
}

async function observeBootstrap(client: KubeClient, options: ObserveOptions): Promise<Result<BootstrapView, string>> {
  const { name, host, signal } = options;
  const read = reader(client, signal);
  const namespace = capiNamespace(name);
  const [own, requested, ownership, cluster, place, record] = await Promise.all([
    read(latticeClusters, { name: host.name }),
    read(latticeClusters, { name }),
    readOwnership(client, namespace, signal),
    read<KubeObject>(capiClusters, { namespace, name }),
    read<KubeObject>(namespaces, { name: namespace }),
    host.atEnd === "cleaned" ? readBootstrapRecord(client, { signal, timeoutMs: ANSWER_WITHIN_MS }) : ok(undefined),
  ]);
  if (!own.ok) return own;
  if (!record.ok) return record;
  if (!requested.ok) return requested;
  if (!ownership.ok) return ownership;
  if (!cluster.ok) return cluster;
  if (!place.ok) return place;
  // all kinds are listed only where the answer can matter
  const left =
    cluster.value === undefined
      ? await remainingObjects(client, namespace, { signal, timeoutMs: ANSWER_WITHIN_MS })
      : ok([`Cluster ${name}`]);
  if (!left.ok) return left;
  const { value: live } = requested;
  const file = live === undefined ? ok(undefined) : await fileView(client, options, { live, isMade: left.value.length > 0 });
  if (!file.ok) return file;
  return ok({
    atEnd: host.atEnd,
    isBeingCleaned: record.value?.state === "removing",
    cell: own.value?.spec.endpoints === undefined ? undefined : cellOf(own.value),
    cluster: live === undefined ? undefined : { ...requestedOf(live, left.value.length > 0), file: file.value },
    ownership: ownership.value,
    objects: left.value,
    isDeleting: cluster.value === undefined || isBeingDeleted(cluster.value),
    hasNamespace: place.value !== undefined && !isBeingDeleted(place.value),
  });
}

function cellOf({ status }: LatticeCluster): NonNullable<BootstrapView["cell"]> {
  const ready = findCondition(status?.conditions, "Ready");
  // nodes that are not ready are no reason to wait: the cell itself is checked before them
  return { ready: ready?.status === "True" || ready?.reason === NODES_NOT_READY, message: ready?.message ?? "its operator starts" };
}

function requestedOf(cluster: LatticeCluster, isMade: boolean): RequestedCluster {
  const { metadata, status } = cluster;
  const pivot = status?.pivot;
  const moved = pivot?.total === undefined || pivot.finishedAt !== undefined ? "" : ` (${pivot.moved ?? 0} of ${pivot.total} objects)`;
  return {
    isOurs: metadata.annotations?.[INSTALLED_ANNOTATION] === INSTALLER,
    isBeingDeleted: isBeingDeleted(cluster),
    phase: status?.phase ?? "",
    // the status follows the end of the move
    isPivoted: status?.ownedBy === "self" || status?.phase === "Ready" || (status?.phase === "Pivoting" && !isMade),
    message: `${(status?.message ?? "").split("\n")[0] ?? ""}${moved}`,
  };
}

type LiveCluster = { readonly live: LatticeCluster; readonly isMade: boolean };

async function fileView(
  client: KubeClient,
  { name, host, signal, file, onNote = () => {} }: ObserveOptions,
  { live, isMade }: LiveCluster,
): Promise<Result<FileView | undefined, string>> {
  if (file === undefined) return ok(undefined);
  const { changes, impossible } = fileChanges({ live, file: file.cluster, isMade });
  const texts = changes.map(changeText);
  const problems =
    impossible.length === 0
      ? []
      : [`the file was changed in what only a new cluster can have (${impossible.join("; ")}): undo that, or ${host.discard}`];
  for (const one of file.beside) {
    const state = await besideState({ client, name, call: { signal, timeoutMs: ANSWER_WITHIN_MS } }, one);
    if (!state.ok) return err(state.error.message);
    const problem = besideProblem(one, state.value);
    if (problem !== undefined) problems.push(problem);
    const note = besideNote(one, state.value);
    if (note !== undefined) onNote(note);
    if (state.value.kind === "missing" || state.value.kind === "changed") texts.push(describeObject(one.object));
  }
  return ok({ changes: texts, problem: problems.length === 0 ? undefined : problems.join("; ") });
}

/** Of a file whose cluster owns itself. Objects that the cluster does not have were not moved, because it does not refer to them. */
async function fileProblem(client: KubeClient, options: ObserveOptions, own: LatticeCluster): Promise<Result<string | undefined, string>> {
  const { name, management, signal, file } = options;
  if (file === undefined) return ok(undefined);
  const differences = [...ownDifferences(own, file.cluster)];
  for (const one of file.beside) {
    const state = await besideState({ client, name, call: { signal, timeoutMs: ANSWER_WITHIN_MS } }, one);
    if (!state.ok) return err(state.error.message);
    if (state.value.kind !== "same" && state.value.kind !== "missing") differences.push(`${describeObject(one.object)} has other content`);
  }
  if (differences.length === 0) return ok(undefined);
  return ok(
    `${name} is installed and owns itself, and the file differs from it (${differences.join("; ")}): its own LatticeCluster counts, and the file is not applied any more; make the change there with ${management.edit}, or correct the file`,
  );
}

async function observeManagement(client: KubeClient, options: ObserveOptions): Promise<Result<ManagementView, string>> {
  const { name, signal } = options;
  const read = reader(client, signal);
  const [ownership, identity, parent, clusters] = await Promise.all([
    readOwnership(client, capiNamespace(name), signal),
    read(configMaps, { namespace: OPERATOR_NAMESPACE, name: IDENTITY_CONFIG_MAP }),
    read<KubeObject>(secrets, { namespace: OPERATOR_NAMESPACE, name: PARENT_CONFIG_SECRET }),
    client.list(latticeClusters, {}, { signal, timeoutMs: ANSWER_WITHIN_MS }),
  ]);
  if (!ownership.ok) return ownership;
  if (!identity.ok) return identity;
  if (!parent.ok) return parent;
  // its kinds come with its registration
  if (!clusters.ok && clusters.error.kind !== "not-found") return err(clusters.error.message);
  const items = clusters.ok ? clusters.value.items : [];
  const own = items.find(({ metadata }) => metadata.name === name);
  const named = identity.value?.data?.["cluster"];
  const problem = own === undefined || ownership.value !== "owner" ? ok(undefined) : await fileProblem(client, options, own);
  if (!problem.ok) return problem;
  return ok({
    otherName: named === name ? undefined : named,
    ownership: ownership.value,
    hasCluster: own !== undefined,
    hasParent: parent.value !== undefined || own?.spec.cellRef !== undefined,
    parent: parentOf(parent.value) ?? own?.spec.cellRef,
    children: items.flatMap(({ metadata }) => (metadata.name === name ? [] : [metadata.name])),
    fileProblem: problem.value,
  });
}

function parentOf(secret: KubeObject | undefined): string | undefined {
  const encoded = fieldAt(secret, "data", "cell");
  const text = typeof encoded === "string" ? andThen(bytesOfBase64(encoded), textOfBytes) : undefined;
  return text?.ok === true && text.value !== "" ? text.value : undefined;
}

export async function readOwnership(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<Result<NamespaceOwnership["state"], string>> {
  const read = reader(client, signal);
  // the journal is written before a record of this side goes, and read last
  const record = await read<KubeObject>(configMaps, { namespace, name: MOVE_RECORD });
  if (!record.ok) return record;
  const journal = await read<KubeObject>(secretsByMetadata, { namespace, name: MOVE_JOURNAL });
  if (!journal.ok) return journal;
  return ok(ownershipOf({ record: record.value, hasJournal: journal.value !== undefined }).state);
}

/** Undefined: there is no such object, or no such kind. */
function reader(client: KubeClient, signal: AbortSignal) {
  return async <T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<Result<T | undefined, string>> => {
    const found = await client.get(resource, key, { signal, timeoutMs: ANSWER_WITHIN_MS });
    if (found.ok) return ok(found.value);
    return found.error.kind === "not-found" ? ok(undefined) : err(found.error.message);
  };
}
