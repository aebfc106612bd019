/**
 * The deletion of a LatticeService. Objects with an owner reference are garbage collected, the others are deleted by the runtime after this; the world has
 * removed the service already. Config is deleted last: the pods of a patched Deployment use it until the patch is taken off.
 */
import { namespaceOfEnvironment } from "#compile";
import { settled, stalled, waiting, type ReconcileOutcome, type Runtime } from "#controller-runtime";
import type { LatticeService } from "#crds";
import { keyText } from "#kube";
import { deploymentsToDetach } from "../patched-deployments.ts";
import { reachProblem } from "../reach.ts";
import type { ServiceShared } from "./commands.ts";

const RECHECK_MS = 1_000;
/** Objects in a namespace without rights cannot be deleted: the finalizer stays, unless nothing was ever created there. */
export function tearDownService(service: LatticeService, { records, followed, cache }: Runtime & ServiceShared): Promise<ReconcileOutcome> {
  const { metadata, spec, status } = service;
  const { environment } = spec;
  const target =
    environment === undefined ? metadata.namespace : namespaceOfEnvironment(environment, followed.world.environment(environment));
  const beyond = status?.compiledAt === undefined ? undefined : reachProblem(target ?? "", followed.reach, cache);
  if (beyond !== undefined) return Promise.resolve(stalled("NamespaceOutOfReach", `its objects are not deleted: ${beyond.message}`));
  const key = keyText(metadata);
  // the environment may be deleted already
  const patched = { cache, world: followed.world, namespace: spec.workloadRef?.namespace ?? target ?? "" };
  const [left] = deploymentsToDetach(key, patched);
  // another controller does it, because the service may be gone already (`detach/`)
  if (left !== undefined)
    return Promise.resolve(waiting("Detaching", RECHECK_MS, `the changes of Deployment ${keyText(left.metadata)} are taken off`));
  records.forget(key);
  return Promise.resolve(settled);
}
