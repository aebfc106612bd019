/**
 * The specification of an installation: from what can be observed of the bootstrap cluster and of the management cluster, the next step. Pure; a run observes,
 * decides, performs one step that may be repeated, and begins again. A run that was killed is continued by the next one, because it observes the same.
 *
 * 1. The bootstrap cluster is removed only when the management cluster has proven that it owns itself: its record of the move is committed, no journal is
 *    left on either side, and no Cluster API object is left in the bootstrap cluster.
 * 2. The management cluster forgets its parent before the parent goes.
 * 3. What was created in a bootstrap cluster is removed after that, to the end: nothing is created there in between.
 * 4. The management cluster is created only if the bootstrap cluster has no LatticeCluster and no trace of a move of it, and it is absent: one that does not answer
 *    may own itself.
 * 5. As long as the bootstrap cluster has a LatticeCluster of it, its operator acts on it: nothing is moved back or deleted.
 * 6. A file that was changed is applied as long as the bootstrap cluster owns the management cluster and no move of it has begun, or refused. After that, the
 *    management cluster's own LatticeCluster counts: the installation is ended, and a file that differs is refused.
 * 7. A cluster with children is uninstalled only by explicit request, and never loses a Cluster API object to a bootstrap cluster that is gone.
 */
import type { NamespaceOwnership } from "#pivot";
import type { BootstrapEnd } from "./ports.ts";

export type ClusterObservation<T> =
  | { readonly state: "absent" }
  /** It exists, and does not answer. */
  | {
      readonly state: "unknown";
      readonly why: string;
      /** What to do if it does not exist any more, which cannot be distinguished. */
      readonly ifGone?: string | undefined;
    }
  | { readonly state: "there"; readonly view: T };

/** The LatticeCluster of the management cluster, in the bootstrap cluster. */
export type RequestedCluster = {
  /** It was created by an installation. */
  readonly isOurs: boolean;
  readonly isBeingDeleted: boolean;
  readonly phase: string;
  readonly message: string;
  /** The management cluster owns itself: this one is a copy of its own. */
  readonly isPivoted: boolean;
  /** Absent: there is no file to compare it with. */
  readonly file?: FileView | undefined;
};

/** The file of the installation, compared with what the bootstrap cluster has of it. */
export type FileView = {
  /** What is to be applied, such as "spec.nodes.workers: 1 -> 3". */
  readonly changes: readonly string[];
  /** Why a person has to change the file first. */
  readonly problem?: string | undefined;
};

export type BootstrapView = {
  readonly atEnd: BootstrapEnd;
  /** The removal of what was created in it has begun. */
  readonly isBeingCleaned: boolean;
  /** Its own LatticeCluster with endpoints; absent: it is no cell yet. */
  readonly cell?: { readonly ready: boolean; readonly message: string } | undefined;
  readonly cluster?: RequestedCluster | undefined;
  /** By the traces of moves in the namespace of the management cluster. */
  readonly ownership: NamespaceOwnership["state"];
  /** Cluster API objects of the management cluster, such as "Cluster mgmt". */
  readonly objects: readonly string[];
  /** Its Cluster is being deleted. */
  readonly isDeleting: boolean;
  /** The namespace of the management cluster exists, and is not being deleted. */
  readonly hasNamespace: boolean;
};

export type ManagementView = {
  /** It is another cluster, of this name. */
  readonly otherName?: string | undefined;
  readonly ownership: NamespaceOwnership["state"];
  /** Its own LatticeCluster exists. */
  readonly hasCluster: boolean;
  /** Secret lattice-parent-config or spec.cellRef exists. */
  readonly hasParent: boolean;
  /** Its name, if that can be read. */
  readonly parent?: string | undefined;
  /** LatticeClusters but its own. */
  readonly children: readonly string[];
  /** How the file differs from its own LatticeCluster, and what to do. */
  readonly fileProblem?: string | undefined;
};

export type InstallView = {
  readonly name: string;
  /** The name of the bootstrap cluster as a cell. */
  readonly bootstrapName: string;
  readonly bootstrap: ClusterObservation<BootstrapView>;
  readonly management: ClusterObservation<ManagementView>;
};

export type InstallStep =
  | "create-bootstrap"
  | "make-cell"
  | "apply-cluster"
  | "apply-changes"
  | "detach"
  | "release-bootstrap"
  | "remove-bootstrap"
  | "done";
export type UninstallStep = "create-bootstrap" | "move-back" | "delete-cluster" | "release-bootstrap" | "remove-bootstrap" | "done";

export type InstallDecision<Step> =
  | { readonly step: Step; /** What exactly it does. */ readonly detail?: string }
  /** Something else is at work: observe again. */
  | { readonly wait: string }
  /** A person must act. */
  | { readonly refused: string };

const wait = (text: string) => ({ wait: text });
const refused = (text: string) => ({ refused: text });

export function nextInstallStep(view: InstallView): InstallDecision<InstallStep> {
  const decision = installStep(view);
  const isDone = "step" in decision && decision.step === "done";
  const problem = isDone && view.management.state === "there" ? view.management.view.fileProblem : undefined;
  return problem === undefined ? decision : refused(problem);
}

function installStep({ name, bootstrap, management }: InstallView): InstallDecision<InstallStep> {
  const other = otherCluster(name, management);
  if (other !== undefined && !(bootstrap.state === "there" && bootstrap.view.isBeingCleaned)) return refused(other);
  if (bootstrap.state === "unknown") return wait(`the bootstrap cluster does not answer: ${bootstrap.why}`);
  if (bootstrap.state === "absent") return withoutBootstrap(name, management);
  const { view } = bootstrap;
  if (view.isBeingCleaned) return { step: "remove-bootstrap" };
  if (view.cluster !== undefined && !view.cluster.isOurs) return refused(nameTaken(name));
  if (view.cluster === undefined && view.ownership !== "never-moved")
    return refused(`the removal of ${name} has begun; lattice uninstall continues it`);
  if (management.state === "there" && ownsItself(management.view)) return afterPivot(view, management.view);
  const changed = view.cluster === undefined ? undefined : changedFile(view.cluster, view.ownership);
  if (changed !== undefined) return changed;
  if (view.cluster === undefined && management.state !== "absent") return withoutRequest(name, management);
  if (view.cell === undefined) return { step: "make-cell" };
  if (view.cluster === undefined) return view.cell.ready ? { step: "apply-cluster" } : wait(`the bootstrap cluster: ${view.cell.message}`);
  return whileProvisioning(name, view.cluster, management);
}

function otherCluster(name: string, management: ClusterObservation<ManagementView>): string | undefined {
  if (management.state !== "there" || management.view.otherName === undefined) return undefined;
  return `the kubeconfig of ${name} leads to cluster ${management.view.otherName}; give the one of ${name}, and run the same command again`;
}

/** It does not own itself, as far as can be seen, and the bootstrap cluster does not make it. */
function withoutRequest(name: string, management: Exclude<ClusterObservation<ManagementView>, { state: "absent" }>) {
  return management.state === "unknown"
    ? wait(noAnswer(name, management))
    : refused(withoutOwner(name, "the bootstrap cluster has no LatticeCluster of it"));
}

function changedFile(
  { isBeingDeleted, isPivoted, file }: RequestedCluster,
  ownership: BootstrapView["ownership"],
): InstallDecision<InstallStep> | undefined {
  if (file === undefined || isBeingDeleted || isPivoted || ownership !== "never-moved") return undefined;
  if (file.problem !== undefined) return refused(file.problem);
  return file.changes.length === 0 ? undefined : { step: "apply-changes", detail: file.changes.join("; ") };
}

function noAnswer(name: string, { why, ifGone }: { readonly why: string; readonly ifGone?: string | undefined }): string {
  return `cluster ${name} does not answer: ${why}${ifGone === undefined ? "" : `; if it does not exist any more, ${ifGone}`}`;
}

function ownsItself({ ownership, hasCluster }: ManagementView): boolean {
  return ownership === "owner" && hasCluster;
}

function withoutBootstrap(name: string, management: ClusterObservation<ManagementView>): InstallDecision<InstallStep> {
  switch (management.state) {
    case "absent":
      return { step: "create-bootstrap" };
    case "unknown":
      return wait(noAnswer(name, management));
    case "there":
      if (!ownsItself(management.view))
        return refused(withoutOwner(name, "there is no bootstrap cluster that has its Cluster API objects"));
      return { step: management.view.hasParent ? "detach" : "done" };
  }
}

function withoutOwner(name: string, missing: string): string {
  return `cluster ${name} exists and does not own itself, and ${missing}; choose another name, or delete the cluster`;
}

function nameTaken(name: string): string {
  return `LatticeCluster ${name} exists in the bootstrap cluster and was not created by lattice install; choose another name, or delete it`;
}

/** `moving` at the bootstrap cluster: its journal is still there, so the move has not ended. */
function afterPivot(
  { ownership, objects, atEnd, cluster, hasNamespace }: BootstrapView,
  { hasParent }: ManagementView,
): InstallDecision<InstallStep> {
  if (ownership !== "never-moved") return wait("the bootstrap cluster finishes the move");
  const [first] = objects;
  if (first !== undefined)
    return wait(`the bootstrap cluster still has ${first}${objects.length === 1 ? "" : ` and ${objects.length - 1} more`}`);
  if (hasParent) return { step: "detach" };
  if (atEnd === "removed") return { step: "remove-bootstrap" };
  if (cluster === undefined) {
    // a run that was killed may have deleted one of them only
    if (hasNamespace) return { step: "release-bootstrap" };
    return { step: atEnd === "cleaned" ? "remove-bootstrap" : "done" };
  }
  return cluster.isBeingDeleted ? wait("the bootstrap cluster forgets the cluster") : { step: "release-bootstrap" };
}

function whileProvisioning(
  name: string,
  { phase, message, isBeingDeleted }: RequestedCluster,
  management: ClusterObservation<ManagementView>,
): InstallDecision<InstallStep> {
  // by the operator of the bootstrap cluster, which may run in this process
  if (isBeingDeleted) return wait(`LatticeCluster ${name} is being deleted in the bootstrap cluster`);
  const text = message === "" ? "" : `: ${message}`;
  if (phase === "Ready" && management.state === "unknown") return wait(`${name} is Ready, and does not answer: ${management.why}`);
  return wait(`${phase === "" ? "Pending" : phase}${text}`);
}

export type UninstallOptions = {
  /** Children stay, without a parent. */
  readonly orphanChildren: boolean;
};

export function nextUninstallStep(given: InstallView, options: UninstallOptions): InstallDecision<UninstallStep> {
  const { name, bootstrap, management } = given;
  const other = otherCluster(name, management);
  if (other !== undefined && !isDeletionBegun(bootstrap)) return refused(other);
  const decision = uninstallStep(given, options);
  const isDeletion = "step" in decision && decision.step === "delete-cluster";
  // a child may have been created after the move had begun, which is finished all the same
  const late = isDeletion && management.state === "there" ? childrenProblem(name, management.view, options) : undefined;
  return late === undefined ? decision : refused(late);
}

/** The address may be that of another cluster as soon as the machines are gone. */
function isDeletionBegun(bootstrap: ClusterObservation<BootstrapView>): boolean {
  if (bootstrap.state !== "there") return false;
  const { isBeingCleaned, ownership, isDeleting } = bootstrap.view;
  return isBeingCleaned || (ownership === "owner" && isDeleting);
}

function uninstallStep(given: InstallView, options: UninstallOptions): InstallDecision<UninstallStep> {
  const { name, bootstrap, management } = given;
  if (bootstrap.state === "unknown") return wait(`the bootstrap cluster does not answer: ${bootstrap.why}`);
  if (bootstrap.state === "there" && bootstrap.view.isBeingCleaned) return { step: "remove-bootstrap" };
  if (bootstrap.state === "there" && bootstrap.view.cluster !== undefined) return refused(stillRequested(name, bootstrap.view.cluster));
  // also when the bootstrap cluster owns the objects already: until the move has ended, they may be paused there
  if (bootstrap.state === "there" && management.state === "there") {
    const isMoving = management.view.ownership === "moving" || bootstrap.view.ownership === "moving";
    if (isMoving) return { step: "move-back" };
  }
  if (bootstrap.state === "there" && bootstrap.view.ownership === "owner") return deletionStep(bootstrap.view);
  if (management.state === "unknown") return wait(noAnswer(name, management));
  if (management.state === "absent") return bootstrap.state === "absent" ? { step: "done" } : endOfBootstrap(name, bootstrap.view);
  const problem = uninstallProblem(given, management.view, options);
  if (problem !== undefined) return refused(problem);
  return { step: bootstrap.state === "absent" ? "create-bootstrap" : "move-back" };
}

function stillRequested(name: string, { isOurs }: RequestedCluster): string {
  return isOurs
    ? `the installation of ${name} has not ended; lattice install continues it, and lattice uninstall can be run afterwards`
    : `${name} is a child of the bootstrap cluster; delete its LatticeCluster there`;
}

function childrenProblem(name: string, { children }: ManagementView, { orphanChildren }: UninstallOptions): string | undefined {
  if (children.length === 0 || orphanChildren) return undefined;
  return `${name} has children (${children.join(", ")}); delete them first, or keep them without a parent with --orphan-children`;
}

/** The parent would keep its LatticeCluster and its access, and wait for a child that is gone. */
function parentProblem({ name, bootstrapName }: InstallView, { hasParent, parent }: ManagementView): string | undefined {
  if (!hasParent) return undefined;
  if (parent === bootstrapName)
    return `the installation of ${name} has not ended: its parent is still the bootstrap cluster ${parent}; lattice install continues it, and lattice uninstall can be run afterwards`;
  const shown = parent === undefined ? "another cluster" : parent;
  return `${name} is a child of ${shown}: delete its LatticeCluster there, which also deletes its machines; if ${shown} is gone for good, first give ${name} another parent with lattice reparent`;
}

function uninstallProblem(given: InstallView, view: ManagementView, options: UninstallOptions): string | undefined {
  const { name } = given;
  const { ownership, hasParent } = view;
  const problem = (ownership === "owner" ? parentProblem(given, view) : undefined) ?? childrenProblem(name, view, options);
  if (problem !== undefined) return problem;
  if (ownership === "owner") return undefined;
  if (ownership === "moving")
    return `a move of ${name} to another cluster has begun, and that cluster is not here; finish it or abort it with lattice move first`;
  return `${name} does not own itself; ${hasParent ? "delete its LatticeCluster on its parent" : "there is nothing that lattice uninstall could move"}`;
}

function deletionStep({ objects, isDeleting, atEnd }: BootstrapView): InstallDecision<UninstallStep> {
  if (objects.length === 0) return { step: atEnd === "kept" ? "release-bootstrap" : "remove-bootstrap" };
  return isDeleting ? wait(`${objects.length} Cluster API objects are being deleted`) : { step: "delete-cluster" };
}

function endOfBootstrap(name: string, { objects, atEnd }: BootstrapView): InstallDecision<UninstallStep> {
  if (objects.length > 0)
    return refused(
      `the bootstrap cluster has Cluster API objects of ${name} (${objects[0] ?? ""}) and does not own them; lattice install continues`,
    );
  return { step: atEnd === "kept" ? "done" : "remove-bootstrap" };
}
