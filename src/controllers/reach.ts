/**
 * The namespaces in which the operator may work. With `--namespaces` it has Roles in those only; for any other namespace, and for one whose Role is
 * missing, the error names what cannot be reached and the command that grants it. Pure but for the cache.
 */
import type { CacheReader } from "#controller-runtime";
import { gateways, groupResourceOf, namespaces, peerAuthentications, type Resource } from "#kube";
import { ownedKinds } from "./owned-kinds.ts";

export type OperatorReach = {
  /** The namespace of the operator's own ServiceAccount. */
  readonly home: string;
  /** Absent: the whole cluster. */
  readonly namespaces?: readonly string[] | undefined;
};

export type ReachProblem = {
  /** "outside": not one of the operator's namespaces, so another operator may manage it. */
  readonly kind: "outside" | "missing" | "forbidden";
  readonly message: string;
};

/** Kinds that are read and written for a service and for the default deny of its namespace. */
const WORK_KINDS: readonly Resource[] = [...ownedKinds, peerAuthentications, gateways];
const SHOWN_KINDS = 3;
/** A condition's message is cut at 1,024 bytes. */
const MAX_CHARACTERS = 600;

/** Undefined: the operator has rights there. */
export function reachProblem(namespace: string, reach: OperatorReach, cache: CacheReader): ReachProblem | undefined {
  if (reach.namespaces === undefined) return undefined;
  if (!reach.namespaces.includes(namespace)) return { kind: "outside", message: outside(namespace, reach, reach.namespaces) };
  const grant = `run: ${rbacCommand(reach)}`;
  if (cache.access(namespaces, namespace) === "readable" && cache.get(namespaces, { name: namespace }) === undefined) {
    const message = `namespace ${namespace} does not exist, and this operator may not create namespaces; run: kubectl create namespace ${namespace}; then ${grant}`;
    return { kind: "missing", message };
  }
  const refused = [namespaces, ...WORK_KINDS].filter((resource) => cache.access(resource, namespace) === "forbidden").map(groupResourceOf);
  if (refused.length === 0) return undefined;
  const more = refused.length > SHOWN_KINDS ? ` and ${refused.length - SHOWN_KINDS} more kinds` : "";
  const what = `${refused.slice(0, SHOWN_KINDS).join(", ")}${more}`;
  return {
    kind: "forbidden",
    message: `namespace ${namespace} is out of reach: RBAC does not let this operator read ${what} in it; ${grant}`,
  };
}

function outside(namespace: string, reach: OperatorReach, known: readonly string[]): string {
  const all = [...known, namespace];
  const works = `namespace ${namespace} is out of reach: this operator works in ${shorten(known.join(", "))} only`;
  return `${works}; to add it, run: ${rbacCommand(reach, all)}; then restart the operator with --namespaces ${shorten(all.join(","))}`;
}

/** The command that grants the operator its rights, or those to other namespaces as well. */
export function rbacCommand({ home, namespaces: own }: OperatorReach, wanted: readonly string[] | undefined = own): string {
  const where = wanted === undefined ? "" : ` --namespaces ${shorten(wanted.join(","))}`;
  return `lattice rbac --namespace ${home}${where} | kubectl apply --server-side -f -`;
}

/** Short enough for three uses in one message. */
function shorten(text: string): string {
  const most = MAX_CHARACTERS / 3;
  return text.length <= most ? text : `…${text.slice(text.length - most)}`;
}
