/** The steps of an installation and of its reverse. Each may be repeated after a crash at any write. */
import { base64OfText, err, map, ok, type Clock, type Result } from "#base";
import { capiNamespace, CLUSTER_NAME_LABEL } from "#cluster-compiler";
import { PARENT_CONFIG_SECRET } from "#controllers";
import { latticeClusters, type LatticeCluster } from "#crds";
import { capiClusters, describeObject, namespaces, secrets, type Json, type KubeObject } from "#kube";
import type { KubeClient, KubeError } from "#kube-client";
import { OPERATOR_NAMESPACE } from "#operator";
import { moveNamespace, resumeOwned, type MoveProgress } from "#pivot";
import { besideProblem, besideState, writeBeside, type AppliedBeside } from "./beside.ts";
import { fileChanges, installedSpec, INSTALLED_SPEC_ANNOTATION, patchOf } from "./file-changes.ts";
import { makeCell } from "./make-cell.ts";
import type { ManagementFile } from "./management-file.ts";
import { INSTALLED_ANNOTATION, INSTALLER, readOwnership } from "./observe.ts";
import type { BootstrapHost, ManagementAccess } from "./ports.ts";
import { recordNewObjects } from "./prepare-bootstrap.ts";

const FIELD_MANAGER = "lattice-install";

export type StepContext = {
  readonly name: string;
  readonly host: BootstrapHost;
  readonly management: ManagementAccess;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Readable: it is shown to others. Each attempt of a move adds a part that makes it unique. */
  readonly identity: string;
  readonly onMove: (progress: MoveProgress) => void;
};

/** "refused": a person must act. "failed": the same step again may succeed. */
export type StepFailure = { readonly kind: "refused" | "failed"; readonly message: string };
export type Performed = Promise<Result<void, StepFailure>>;

const failed = (message: string) => err<StepFailure>({ kind: "failed", message });

/** The bootstrap cluster gets its name, and its own LatticeCluster with endpoints: once, so that its children keep their parent's address. */
export async function makeBootstrapCell({ host, signal }: StepContext): Performed {
  const client = await clientOf(host.find, signal);
  if (!client.ok) return client;
  const named = await makeCell(client.value, { name: host.name, endpoints: () => host.endpoints() });
  return named.ok ? named : failed(named.error);
}

export type RequestedObjects = {
  readonly cluster: KubeObject;
  readonly beside: readonly AppliedBeside[];
  /** What the next run compares its file with. */
  readonly file?: ManagementFile | undefined;
};

/** Created; after that, only what was changed in the file is: what a person edits meanwhile counts. */
export async function applyManagementCluster(context: StepContext, { cluster, beside, file }: RequestedObjects): Performed {
  const { host, signal } = context;
  const client = await clientOf(host.find, signal);
  if (!client.ok) return client;
  const applied = await applyBeside(context, client.value, beside);
  if (!applied.ok) return applied;
  const annotations = { ...cluster.metadata.annotations, [INSTALLED_ANNOTATION]: INSTALLER };
  const noted = file === undefined ? {} : { [INSTALLED_SPEC_ANNOTATION]: installedSpec(file.cluster) };
  const object = { ...cluster, metadata: { ...cluster.metadata, annotations: { ...annotations, ...noted } } };
  const created = await client.value.create<KubeObject>(latticeClusters, object, { fieldManager: FIELD_MANAGER, signal });
  if (created.ok || created.error.kind === "already-exists") return ok(undefined);
  return rejected(`LatticeCluster ${cluster.metadata.name}`, created.error);
}

/** What was changed in the file, as long as the bootstrap cluster makes the management cluster. */
export async function applyFileChanges(context: StepContext, file: ManagementFile): Performed {
  const { host, name, signal } = context;
  const client = await clientOf(host.find, signal);
  if (!client.ok) return client;
  const applied = await applyBeside(context, client.value, file.beside);
  if (!applied.ok) return applied;
  const live = await client.value.get(latticeClusters, { name }, { signal });
  if (!live.ok) return failed(`LatticeCluster ${name} cannot be read: ${live.error.message}`);
  const { changes } = fileChanges({ live: live.value, file: file.cluster, isMade: false });
  if (changes.length === 0) return ok(undefined);
  const { uid = "" } = live.value.metadata;
  const metadata = { uid, annotations: { [INSTALLED_SPEC_ANNOTATION]: installedSpec(file.cluster) } };
  const body = { type: "merge", patch: { metadata, spec: patchOf(changes) } } as const;
  const patched = await client.value.patch<LatticeCluster>(latticeClusters, { name }, body, { fieldManager: FIELD_MANAGER, signal });
  return patched.ok ? ok(undefined) : rejected(`the changed LatticeCluster ${name}`, patched.error);
}

async function applyBeside({ host, name, signal }: StepContext, client: KubeClient, beside: readonly AppliedBeside[]): Performed {
  const options = { client, name, call: { signal } };
  const due: AppliedBeside[] = [];
  // all are checked before the first one is written
  for (const one of beside) {
    const state = await besideState(options, one);
    if (!state.ok) return failed(`${describeObject(one.object)} cannot be read in the bootstrap cluster: ${state.error.message}`);
    const problem = besideProblem(one, state.value);
    if (problem !== undefined) return err({ kind: "refused", message: problem });
    if (state.value.kind === "missing" || state.value.kind === "changed") due.push(one);
  }
  const recorded = host.atEnd === "cleaned" ? await recordNewObjects(client, due, { signal }) : ok(undefined);
  if (!recorded.ok) return failed(recorded.error);
  for (const one of due) {
    const applied = await writeBeside(options, one);
    if (!applied.ok) return rejectedBeside(one.object, applied.error);
  }
  return ok(undefined);
}

function rejectedBeside({ kind, metadata: { name, namespace } }: KubeObject, error: KubeError): Result<never, StepFailure> {
  const what = `${kind} ${name}`;
  // the kinds of the file are built in: what is not found is the namespace
  if (error.kind !== "not-found" || namespace === undefined) return rejected(what, error);
  return rejected(what, { ...error, kind: "invalid", message: `there is no namespace ${namespace}; add it to the file` });
}

function rejected(what: string, { kind, message }: KubeError): Result<never, StepFailure> {
  const isFinal = kind === "invalid" || kind === "bad-request" || kind === "forbidden";
  return err({ kind: isFinal ? "refused" : "failed", message: `${what} is not accepted by the bootstrap cluster: ${message}` });
}

/** The management cluster forgets its parent: the Secret first, since the agent connects as long as it exists. */
export async function detachManagement({ management, name, signal }: StepContext): Performed {
  const client = await clientOf(management.find, signal);
  if (!client.ok) return client;
  const key = { namespace: OPERATOR_NAMESPACE, name: PARENT_CONFIG_SECRET };
  const removed = await client.value.delete(secrets, key, { signal });
  if (!removed.ok && removed.error.kind !== "not-found")
    return failed(`Secret ${PARENT_CONFIG_SECRET} cannot be deleted: ${removed.error.message}`);
  return patchCluster(client.value, name, { spec: { cellRef: null } });
}

/** The bootstrap cluster stays: its LatticeCluster of the management cluster is released, which leaves the cluster itself as it is. */
export async function releaseBootstrap({ host, name, signal }: StepContext): Performed {
  const client = await clientOf(host.find, signal);
  if (!client.ok) return client;
  const kept = await patchCluster(client.value, name, { spec: { deletion: { unpivot: false } } });
  if (!kept.ok) return kept;
  const removed = await client.value.delete(latticeClusters, { name }, { signal });
  if (!removed.ok && removed.error.kind !== "not-found")
    return failed(`LatticeCluster ${name} cannot be deleted: ${removed.error.message}`);
  const place = await client.value.delete(namespaces, { name: capiNamespace(name) }, { signal });
  return place.ok || place.error.kind === "not-found"
    ? ok(undefined)
    : failed(`namespace ${capiNamespace(name)} cannot be deleted: ${place.error.message}`);
}

async function patchCluster(client: KubeClient, name: string, patch: Json): Performed {
  const options = { fieldManager: FIELD_MANAGER };
  const patched = await client.patch<LatticeCluster>(latticeClusters, { name }, { type: "merge", patch }, options);
  return patched.ok || patched.error.kind === "not-found"
    ? ok(undefined)
    : failed(`LatticeCluster ${name} cannot be changed: ${patched.error.message}`);
}

/** With a lease that another process may take over this long after a crash. */
const MOVE_LEASE_MS = 5_000;
const MOVE_WAIT_MS = 60_000;

/** The objects return to a bootstrap cluster, which can then delete the machines. */
export async function moveBack(context: StepContext): Performed {
  const { host, management, name, clock, random, signal, onMove } = context;
  const source = await clientOf(management.find, signal);
  if (!source.ok) return source;
  const target = await clientOf(host.find, signal);
  if (!target.ok) return target;
  const namespace = capiNamespace(name);
  const prepared = await writeAccess(context, target.value, namespace);
  if (!prepared.ok) return prepared;
  const moved = await moveNamespace({
    source: source.value,
    target: target.value,
    namespace,
    identity: uniqueIdentity(context),
    leaseMs: MOVE_LEASE_MS,
    waitMs: MOVE_WAIT_MS,
    // the bootstrap cluster that it came from is gone, or is the target, whose own traces are checked
    supersedes: true,
    clock,
    random,
    signal,
    onWait: () => {},
    report: onMove,
    leftToTarget: ({ kind, metadata }) => kind === "Secret" && metadata.name === kubeconfigSecretName(name),
  });
  if (moved.ok) return ok(undefined);
  const message = (moved.error.reasons ?? [moved.error.message]).join("; ");
  if (moved.error.kind !== "refused") return failed(message);
  const removed = host.atEnd === "kept" ? await removeAccess(context, target.value, namespace) : ok(undefined);
  return err({ kind: "refused", message: removed.ok ? message : `${message}; ${removed.error.message}` });
}

/** Of an administrator. A move that has begun needs it when it is continued. */
async function removeAccess({ name, signal }: StepContext, client: KubeClient, namespace: string): Performed {
  const secret = kubeconfigSecretName(name);
  const ownership = await readOwnership(client, namespace, signal);
  if (ownership.ok && ownership.value !== "never-moved") return ok(undefined);
  const removed = ownership.ok ? await client.delete(secrets, { namespace, name: secret }, { signal }) : ownership;
  if (removed.ok) return ok(undefined);
  const why = typeof removed.error === "string" ? removed.error : removed.error.message;
  return failed(`Secret ${secret} in namespace ${namespace} of the bootstrap cluster cannot be deleted: ${why}; delete it there`);
}

/** Two processes of one machine, or a request of an attempt that lost its lease, must not count as the holder of this one. */
function uniqueIdentity({ identity, random }: StepContext): string {
  return `${identity}-${Math.floor(random() * 2 ** 32).toString(16)}`;
}

/** The name is Cluster API's. */
function kubeconfigSecretName(cluster: string): string {
  return `${cluster}-kubeconfig`;
}

/** Cluster API reaches a cluster only by this Secret; each side has one of its own. */
async function writeAccess({ management, name, signal }: StepContext, client: KubeClient, namespace: string): Performed {
  const text = await management.kubeconfig();
  if (!text.ok) return failed(text.error);
  const place = await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, { signal });
  if (!place.ok && place.error.kind !== "already-exists") return failed(`namespace ${namespace} cannot be created: ${place.error.message}`);
  const metadata = { name: kubeconfigSecretName(name), namespace, labels: { [CLUSTER_NAME_LABEL]: name } };
  const object = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: { value: base64OfText(text.value) } };
  const written = await client.apply(secrets, object, { fieldManager: FIELD_MANAGER, force: true, signal });
  return written.ok ? ok(undefined) : failed(`Secret ${metadata.name} cannot be written: ${written.error.message}`);
}

export async function deleteManagementCluster({ host, name, signal }: StepContext): Performed {
  const client = await clientOf(host.find, signal);
  if (!client.ok) return client;
  const key = { namespace: capiNamespace(name), name };
  // Cluster API deletes no machines of a paused Cluster, and a management cluster that is gone does not finish the move
  const resumed = await resumeOwned({ client: client.value, ...key, signal });
  if (!resumed.ok || !resumed.value)
    return failed(`Cluster ${name} cannot be unpaused: ${resumed.ok ? "it has changed meanwhile" : resumed.error.message}`);
  const removed = await client.value.delete(capiClusters, key, { signal });
  return removed.ok || removed.error.kind === "not-found"
    ? ok(undefined)
    : failed(`Cluster ${name} cannot be deleted: ${removed.error.message}`);
}

/** The machines are gone: what is left of the cluster is in the bootstrap cluster. */
export async function markDeleted({ management }: StepContext, next: () => Performed): Performed {
  const marked = (await management.markDeleted?.()) ?? ok(undefined);
  return marked.ok ? next() : failed(marked.error);
}

export async function inHost(work: Promise<Result<void, string>>): Performed {
  const done = await work;
  return done.ok ? map(done, () => undefined) : failed(done.error);
}

async function clientOf(find: BootstrapHost["find"], signal: AbortSignal): Promise<Result<KubeClient, StepFailure>> {
  const found = await find(signal);
  if (!found.ok) return failed(found.error);
  return found.value === undefined ? failed("the cluster does not exist any more") : ok(found.value);
}
