/**
 * The labels of a namespace that add it to the mesh. Without them the policies have no effect, so they are applied with force once Lattice has
 * labelled the namespace or one of its services runs in it. Before that a label of another client stays: the services wait, and report it.
 */
import {
  failed,
  FIELD_MANAGER,
  ownedFieldsOf,
  REQUEUE,
  settled,
  stalled,
  type FailureCause,
  type ReconcileOutcome,
  type Runtime,
} from "#controller-runtime";
import { fieldAt, isJsonObject, namespaces, type KubeObject } from "#kube";
import type { FollowedWorld, WorldContext } from "../world/followed-world.ts";
import { rbacCommand } from "../reach.ts";

export type NamespaceLabels = Readonly<Record<string, string>>;

/** Sets the labels that the namespace should have from Lattice, and removes its other labels that Lattice set. */
export type LabelCommand = {
  readonly kind: "label";
  readonly namespace: KubeObject;
  readonly labels: NamespaceLabels;
  /** Labels of another client that name another waypoint. */
  readonly foreign: readonly string[];
  readonly force: boolean;
};

const DATA_PLANE = "istio.io/dataplane-mode";
const WAYPOINT_LABELS = ["istio.io/use-waypoint", "istio.io/use-waypoint-namespace"];

/** undefined: the labels are as wanted, and Lattice set no others. */
export function labelCommand(namespace: KubeObject, wanted: NamespaceLabels, inUse: boolean): LabelCommand | undefined {
  const { labels: live = {} } = namespace.metadata;
  const isOurs = Object.keys(wanted).length > 0;
  const foreign = isOurs ? WAYPOINT_LABELS.filter((name) => live[name] !== undefined && wanted[name] === undefined) : [];
  const owned = ownedLabels(namespace);
  const stale = owned.filter((name) => wanted[name] === undefined);
  const complete = Object.entries(wanted).every(([name, value]) => live[name] === value);
  if (complete && stale.length === 0 && foreign.length === 0) return undefined;
  const others = foreign.filter((name) => !owned.includes(name));
  return { kind: "label", namespace, labels: wanted, foreign: others, force: isOurs && (inUse || owned.length > 0) };
}

/** Labels that our field manager set. */
export function ownedLabels(namespace: KubeObject): readonly string[] {
  const owned = fieldAt(ownedFieldsOf(namespace), "f:metadata", "f:labels");
  return isJsonObject(owned) ? Object.keys(owned).flatMap((name) => (name.startsWith("f:") ? [name.slice(2)] : [])) : [];
}

/** The labels that we set, plus those of the mesh: for a namespace that is no longer declared and still has pods of services. */
export function labelsInUse(namespace: KubeObject): NamespaceLabels {
  const { labels: live = {} } = namespace.metadata;
  const kept = ownedLabels(namespace).map((name) => [name, live[name] ?? ""] as const);
  return { ...Object.fromEntries(kept), [DATA_PLANE]: "ambient" };
}

export async function performLabel(command: LabelCommand, context: Runtime & WorldContext): Promise<ReconcileOutcome> {
  const { namespace, labels, foreign, force } = command;
  const { name } = namespace.metadata;
  const { client, signal, followed } = context;
  const [refused] = foreign;
  if (!force && refused !== undefined)
    return failed({ kind: "not-ours", message: `namespace ${name} has label ${refused}, which is not Lattice's` });
  const object: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
  const applied = await client.apply(namespaces, object, { fieldManager: FIELD_MANAGER, force, signal });
  followed.labelRefusals.delete(name);
  if (!applied.ok) return outcomeOf(applied.error, command, followed);
  if (foreign.length > 0) {
    const patch = { metadata: { labels: Object.fromEntries(foreign.map((label) => [label, null])) } };
    const removed = await client.patch(namespaces, { name }, { type: "merge", patch }, { fieldManager: FIELD_MANAGER, signal });
    if (!removed.ok) return outcomeOf(removed.error, command, followed);
  }
  report(command, context);
  return settled;
}

/** Reported, because the user who changed a label will look for it. */
function report({ namespace, labels, foreign }: LabelCommand, { record }: Runtime): void {
  const { labels: live = {} } = namespace.metadata;
  const owned = ownedLabels(namespace);
  const changed = Object.keys(labels).filter((name) => live[name] !== undefined && live[name] !== labels[name] && !owned.includes(name));
  if (changed.length + foreign.length === 0) return;
  const note = `set labels back that another client changed: ${[...changed, ...foreign].join(", ")}; services of Lattice run in this namespace`;
  record({ regarding: namespace, type: "Warning", reason: "ForeignFieldsRemoved", note });
}

function outcomeOf(error: FailureCause, { namespace, labels }: LabelCommand, { labelRefusals, reach }: FollowedWorld): ReconcileOutcome {
  const { name } = namespace.metadata;
  if (error.kind === "forbidden") {
    const message = `${describeRefusal(name, labels)}, or grant it: ${rbacCommand(reach)}`;
    labelRefusals.set(name, message);
    return stalled("NamespaceOutOfReach", message, REQUEUE.compileErrorMs);
  }
  return failed(error.kind === "conflict" ? { kind: "not-ours", message: error.message } : error);
}

function describeRefusal(name: string, labels: NamespaceLabels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  const command =
    pairs.length === 0 ? "remove the labels of field manager lattice" : `run: kubectl label namespace ${name} ${pairs.join(" ")}`;
  return `RBAC does not let this operator label namespace ${name}; ${command}`;
}
