/**
 * The deletion of a LatticeService. Objects with an owner reference are garbage collected, the others are deleted by the runtime after this; the world has
 * removed the service already. Config is deleted last: the pods of a patched Deployment use it until the patch is taken off.
 */
import { millisecondsOf, timestampOf } from "#base";
import { namespaceOfEnvironment } from "#compile";
import { failed, settled, stalled, waiting, type CacheReader, type ReconcileOutcome, type Runtime } from "#controller-runtime";
import type { LatticeService } from "#crds";
import { keyText } from "#kube";
import { copiesWithPatch, deploymentsToDetach } from "../patched-deployments.ts";
import { reachProblem } from "../reach.ts";
import type { ServiceShared } from "./commands.ts";
import { handOverService } from "./hand-over-service.ts";

const RECHECK_MS = 1_000;
/** After this time the config is deleted, although pods of Flagger's copy refer to it: an analysis that fails promotes nothing. */
const PROMOTION_MS = 600_000;
const PROMOTION_RECHECK_MS = 5_000;

/** Objects in a namespace without rights cannot be deleted: the finalizer stays, unless nothing was ever created there. */
export async function tearDownService(service: LatticeService, runtime: Runtime & ServiceShared): Promise<ReconcileOutcome> {
  const { records, followed, cache, clock } = runtime;
  const { metadata, spec, status } = service;
  const { environment } = spec;
  const target =
    environment === undefined ? metadata.namespace : namespaceOfEnvironment(environment, followed.world.environment(environment));
  const beyond = status?.compiledAt === undefined ? undefined : reachProblem(target ?? "", followed.reach, cache);
  if (beyond !== undefined) return stalled("NamespaceOutOfReach", `its objects are not deleted: ${beyond.message}`);
  const key = keyText(metadata);
  // the environment may be deleted already
  const patched = { cache, world: followed.world, namespace: spec.workloadRef?.namespace ?? target ?? "" };
  const [left] = deploymentsToDetach(key, patched);
  // another controller does it, because the service may be gone already (`detach/`)
  if (left !== undefined) return waiting("Detaching", RECHECK_MS, `the changes of Deployment ${keyText(left.metadata)} are taken off`);
  const promotion = untilPromoted(service, patched, clock.now());
  if (promotion !== undefined) return promotion;
  const handedOver = await handOverService(service, patched.namespace, runtime);
  if (!handedOver.ok) return failed(handedOver.error);
  records.forget(key);
  return settled;
}

/** Undefined: no copy of Flagger has the patch of the service, or one has it for too long. */
function untilPromoted(
  { metadata, spec }: LatticeService,
  { cache, namespace }: { readonly cache: CacheReader; readonly namespace: string },
  now: number,
): ReconcileOutcome | undefined {
  const end = millisecondsOf(metadata.deletionTimestamp ?? "") + PROMOTION_MS;
  const isOwn = (target: string) => spec.workloadRef === undefined || spec.workloadRef.name === target;
  const found = copiesWithPatch({ name: metadata.name, namespace }, cache).find(({ target }) => isOwn(target));
  if (found === undefined || !(now < end)) return undefined;
  const { copy, target } = found;
  const text = `Deployment ${namespace}/${target} is restored, and Flagger's copy ${keyText(copy.metadata)} still has its patch; waiting until Flagger promotes the Deployment, at the latest until ${timestampOf(end)}`;
  return waiting("Detaching", Math.min(PROMOTION_RECHECK_MS, end - now), text);
}
