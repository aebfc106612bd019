/** The writes of a change of the parent, one for each step. Each is safe to repeat. */
import { err, ok, type Result } from "#base";
import { ADOPTED_ANNOTATION, NEW_CERTIFICATE_ANNOTATION, PARENT_CONFIG_SECRET } from "#controllers";
import { latticeClusters, type LatticeCluster } from "#crds";
import { field, secrets, type KubeObject } from "#kube";
import { OPERATOR_NAMESPACE } from "#operator";
import type { ReparentStep } from "./decide.ts";
import type { ObservedReparent, ReparentClients } from "./observe.ts";

export async function actReparent(step: ReparentStep, observed: ObservedReparent, clients: ReparentClients): Promise<Result<void, string>> {
  switch (step) {
    case "adopt":
      return adopt(observed, clients);
    case "ask-again":
      return askAgain(observed, clients);
    case "write-parent":
      return writeParent(observed, clients);
    case "set-cell-ref":
      return setCellRef(observed, clients);
    case "release":
      return release(observed, clients);
    case "await-offer":
    case "await-agent":
    case "done":
      return ok(undefined);
  }
}

async function adopt({ name, spec, child, to }: ObservedReparent, clients: ReparentClients): Promise<Result<void, string>> {
  if (spec === undefined) return err(`${name} has no LatticeCluster of its own`);
  const cluster = {
    apiVersion: "lattice.dev/v1alpha1",
    kind: "LatticeCluster",
    metadata: { name, annotations: { [ADOPTED_ANNOTATION]: child.uid } },
    spec: { ...spec, cellRef: to.name },
  };
  const made = await clients.to.create<KubeObject>(latticeClusters, cluster, { signal: clients.signal });
  // another run may have made it; what is there is read again
  return made.ok || made.error.kind === "already-exists" ? ok(undefined) : err(`the new parent: ${made.error.message}`);
}

/** Nothing else changes there: it is the same LatticeCluster. */
async function askAgain({ name, child }: ObservedReparent, { to, signal }: ReparentClients): Promise<Result<void, string>> {
  const patch = { metadata: { annotations: { [NEW_CERTIFICATE_ANNOTATION]: child.certificate?.serial ?? "" } } };
  const patched = await to.patch<LatticeCluster>(latticeClusters, { name }, { type: "merge", patch }, { signal });
  return patched.ok ? ok(undefined) : err(`the parent: ${patched.error.message}`);
}

/** As one write: the agent reads all or nothing of it. */
async function writeParent({ name, offered, parentSecret }: ObservedReparent, clients: ReparentClients): Promise<Result<void, string>> {
  const data = field(offered, "data");
  if (data === undefined) return err("the offer of the new parent is empty");
  const { child, signal } = clients;
  const metadata = parentSecret?.metadata ?? { name: PARENT_CONFIG_SECRET, namespace: OPERATOR_NAMESPACE };
  const secret = Object.assign({ apiVersion: "v1", kind: "Secret", metadata }, { type: "Opaque", data });
  const written =
    parentSecret === undefined
      ? await child.create<KubeObject>(secrets, secret, { signal })
      : await child.update<KubeObject>(secrets, secret, { signal });
  const isRace = !written.ok && (written.error.kind === "conflict" || written.error.kind === "already-exists");
  return written.ok || isRace ? ok(undefined) : err(`the cluster ${name}: ${written.error.message}`);
}

async function setCellRef({ name, to }: ObservedReparent, { child, signal }: ReparentClients): Promise<Result<void, string>> {
  const patch = { spec: { cellRef: to.name ?? "" } };
  const patched = await child.patch<LatticeCluster>(latticeClusters, { name }, { type: "merge", patch }, { signal });
  return patched.ok ? ok(undefined) : err(`the cluster ${name}: ${patched.error.message}`);
}

/** First the field: a deletion without it would take the Cluster API objects back. */
async function release({ name }: ObservedReparent, { from, signal }: ReparentClients): Promise<Result<void, string>> {
  if (from === undefined) return ok(undefined);
  const patch = { spec: { deletion: { unpivot: false } } };
  const patched = await from.patch<LatticeCluster>(latticeClusters, { name }, { type: "merge", patch }, { signal });
  if (!patched.ok) return patched.error.kind === "not-found" ? ok(undefined) : err(`the former parent: ${patched.error.message}`);
  const deleted = await from.delete(latticeClusters, { name }, { signal });
  return deleted.ok ? ok(undefined) : err(`the former parent: ${deleted.error.message}`);
}
