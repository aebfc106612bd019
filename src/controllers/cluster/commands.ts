/** Changes of a pass over a LatticeCluster beside the objects that it applies. Each is safe to repeat. */
import { bytesOfBase64, ok, sensitive, textOfBytes, type Result, type Sensitive } from "#base";
import { capiNamespace, tokenSecretName } from "#cluster-compiler";
import { failed, FIELD_MANAGER, settled, type FailureCause, type ReconcileOutcome, type Runtime, waiting } from "#controller-runtime";
import { latticeClusters, type LatticeCluster } from "#crds";
import { fieldAt, namespaces, secrets, type KubeObject } from "#kube";
import { resumeOwned } from "#pivot";
import {
  bootstrapSecret,
  kubeconfigDigest,
  kubeconfigSecret,
  KUBECONFIG_ANNOTATION,
  type ChildPlace,
  type ChildSecret,
} from "./child-secrets.ts";
import { accessSecretOf, kubeconfigSecretOf } from "./names.ts";
import { writeOwnKubeconfig, type OwnApiServer } from "./own-kubeconfig.ts";
import { DELETION_ANNOTATION } from "./pivot-state.ts";
import type { CellSlot, RunningCell } from "./ports.ts";

export type ClusterCommand =
  | { readonly kind: "set-cell-ref"; readonly cluster: string; readonly cell: string }
  /** Tokens are issued only if a Secret is missing: the values of existing ones are kept. */
  | { readonly kind: "write-secrets"; readonly place: ChildPlace; readonly expiresAt: number }
  | { readonly kind: "extend-access"; readonly cluster: string; readonly expiresAt: number }
  | { readonly kind: "remove-access"; readonly cluster: string }
  /** Only if it is missing, or of another address of the cell. */
  | { readonly kind: "write-kubeconfig"; readonly place: ChildPlace }
  | { readonly kind: "start-pivot"; readonly cluster: LatticeCluster }
  | { readonly kind: "abort-pivot"; readonly cluster: LatticeCluster }
  | { readonly kind: "start-unpivot"; readonly cluster: LatticeCluster }
  | { readonly kind: "mirror-spec"; readonly cluster: string }
  | { readonly kind: "mark-deletion"; readonly cluster: string }
  /** Of a Cluster that this API server owns by a move that has not ended. */
  | { readonly kind: "resume-own"; readonly cluster: string }
  | { readonly kind: "write-own-kubeconfig"; readonly cluster: string; readonly server: OwnApiServer }
  | { readonly kind: "create-namespace"; readonly namespace: string; readonly cluster: string }
  | { readonly kind: "delete-namespace"; readonly namespace: string; readonly cluster: string };

export type ClusterCommandContext = Runtime & { readonly home: string; readonly cell: CellSlot };

export async function performClusterCommand(command: ClusterCommand, context: ClusterCommandContext): Promise<ReconcileOutcome> {
  const { client, signal, cell } = context;
  switch (command.kind) {
    case "set-cell-ref": {
      const patch = { spec: { cellRef: command.cell } };
      return outcomeOf(
        await client.patch(latticeClusters, { name: command.cluster }, { type: "merge", patch }, { fieldManager: FIELD_MANAGER, signal }),
      );
    }
    case "write-secrets":
      return writeSecrets(command.place, command.expiresAt, context);
    case "extend-access":
      return cell.running === undefined ? CELL_STOPPED : outcomeOf(await cell.running.access.extend(command.cluster, command.expiresAt));
    case "remove-access":
      return removeAccess(command.cluster, context);
    case "write-kubeconfig":
      return writeKubeconfig(command.place, context);
    // moves run beside the passes: none of these waits for one
    case "start-pivot":
      return begin(cell, ({ pivots }) => pivots.start(command.cluster));
    case "abort-pivot":
      return begin(cell, ({ pivots }) => pivots.abort(command.cluster));
    case "start-unpivot":
      return begin(cell, ({ pivots }) => pivots.unpivot(command.cluster));
    case "mirror-spec":
      return begin(cell, ({ pivots }) => pivots.mirror(command.cluster));
    case "mark-deletion": {
      const patch = { metadata: { annotations: { [DELETION_ANNOTATION]: "true" } } };
      return outcomeOf(await client.patch(latticeClusters, { name: command.cluster }, { type: "merge", patch }, { signal }));
    }
    case "resume-own":
      return resumeOwn(command.cluster, context);
    case "write-own-kubeconfig":
      return outcomeOf(await writeOwnKubeconfig({ ...command, home: context.home }, context));
    case "create-namespace":
      return outcomeOf(await createChildNamespace(command, context));
    case "delete-namespace":
      return deleteNamespace(command, context);
  }
}

const CELL_STOPPED = waiting("CellStarting", 2_000, "the listeners of this cell are being started");

function begin({ running }: CellSlot, work: (cell: RunningCell) => void): ReconcileOutcome {
  if (running === undefined) return CELL_STOPPED;
  work(running);
  return settled;
}

async function resumeOwn(name: string, { client, signal }: ClusterCommandContext): Promise<ReconcileOutcome> {
  const resumed = await resumeOwned({ client, namespace: capiNamespace(name), name, signal });
  if (!resumed.ok) return failed(resumed.error);
  return resumed.value ? settled : failed({ kind: "conflict", message: `Cluster ${name} has changed while it was being unpaused` });
}

/** A new credential for the proxy, and nothing else: the child has registered. */
async function writeKubeconfig(place: ChildPlace, context: ClusterCommandContext): Promise<ReconcileOutcome> {
  const { running } = context.cell;
  if (running === undefined) return CELL_STOPPED;
  const token = await running.access.issueProxyToken(place.name);
  return token.ok ? writeSecret(kubeconfigSecret(place, token.value), context) : failed(token.error);
}

/** A cluster that is no cell any more has records without a reader. */
async function removeAccess(cluster: string, { cell, client, home, signal }: ClusterCommandContext): Promise<ReconcileOutcome> {
  const { running } = cell;
  if (running === undefined) return outcomeOf(await client.delete(secrets, { namespace: home, name: accessSecretOf(cluster) }, { signal }));
  const removed = await running.access.remove(cluster);
  if (removed.ok) {
    running.pivots.forget(cluster);
    running.link.forget(cluster, "the cluster was deleted on its parent");
  }
  return outcomeOf(removed);
}

async function writeSecrets(place: ChildPlace, expiresAt: number, context: ClusterCommandContext): Promise<ReconcileOutcome> {
  const { client, signal } = context;
  const { name, namespace } = place;
  const kubeconfig = await client.get<KubeObject>(secrets, { namespace, name: kubeconfigSecretOf(name) }, { signal });
  const bootstrap = await client.get<KubeObject>(secrets, { namespace, name: tokenSecretName(name) }, { signal });
  for (const answer of [kubeconfig, bootstrap]) if (!answer.ok && answer.error.kind !== "not-found") return failed(answer.error);
  const token = kubeconfig.ok ? tokenIn(kubeconfig.value) : undefined;
  if (kubeconfig.ok && token !== undefined && bootstrap.ok) {
    const isCurrent = kubeconfig.value.metadata.annotations?.[KUBECONFIG_ANNOTATION] === kubeconfigDigest(place);
    return isCurrent ? settled : writeSecret(kubeconfigSecret(place, token), context);
  }
  const { running } = context.cell;
  if (running === undefined) return CELL_STOPPED;
  const tokens = await running.access.issueTokens(name, expiresAt);
  if (!tokens.ok) return failed(tokens.error);
  const first = await writeSecret(bootstrapSecret(place, tokens.value.bootstrap), context);
  return first.kind === "settled" ? writeSecret(kubeconfigSecret(place, tokens.value.proxy), context) : first;
}

function tokenIn(secret: KubeObject): Sensitive<string> | undefined {
  const encoded = fieldAt(secret, "data", "token");
  const bytes = typeof encoded === "string" ? bytesOfBase64(encoded) : undefined;
  const text = bytes?.ok === true ? textOfBytes(bytes.value) : undefined;
  return text?.ok === true && text.value !== "" ? sensitive(text.value) : undefined;
}

async function writeSecret(secret: ChildSecret, { client, signal }: ClusterCommandContext): Promise<ReconcileOutcome> {
  return outcomeOf(await client.apply<KubeObject>(secrets, secret, { fieldManager: FIELD_MANAGER, force: true, signal }));
}

/** On the namespace of a child that was created for it, with its name: such a namespace is deleted with the child. */
export const CHILD_ANNOTATION = "lattice.dev/cluster";

type ChildNamespace = { readonly namespace: string; readonly cluster: string };

/** Also when it exists. */
export async function createChildNamespace(
  { namespace: name, cluster }: ChildNamespace,
  { client, signal }: Pick<Runtime, "client" | "signal">,
): Promise<Result<void, FailureCause>> {
  const metadata = { name, labels: { "app.kubernetes.io/managed-by": "lattice" }, annotations: { [CHILD_ANNOTATION]: cluster } };
  const made = await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata }, { signal });
  return made.ok || made.error.kind === "already-exists" ? ok(undefined) : made;
}

/** Only a namespace that was created for this cluster. */
async function deleteNamespace(
  { namespace, cluster }: ChildNamespace,
  { client, signal }: ClusterCommandContext,
): Promise<ReconcileOutcome> {
  const live = await client.get(namespaces, { name: namespace }, { signal });
  if (!live.ok) return live.error.kind === "not-found" ? settled : failed(live.error);
  if (live.value.metadata.annotations?.[CHILD_ANNOTATION] !== cluster) return settled;
  const { uid } = live.value.metadata;
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  return outcomeOf(await client.delete(namespaces, { name: namespace }, { ...preconditions, signal }));
}

function outcomeOf(answer: { readonly ok: true } | { readonly ok: false; readonly error: Parameters<typeof failed>[0] }): ReconcileOutcome {
  return answer.ok ? settled : failed(answer.error);
}
