/**
 * Takes the changes of a service off a Deployment that no service patches any more: the service was deleted, has no `workloadRef` or another one, or was
 * deleted while no operator ran. The record on the Deployment is all that is needed.
 *
 * The webhook does it, on a write of the controller: what a webhook changes is owned by no field manager, so that the owner of the Deployment has no
 * conflict later. Without a webhook for a minute, the controller writes the Deployment itself.
 */
import { ok, type Result } from "#base";
import { defineController, nothing, waiting, type FailureCause, type Plan, type PlanError, type ReadRuntime } from "#controller-runtime";
import { configMaps, deployments, type Deployment, type KubeObject } from "#kube";
import { REQUEST_ANNOTATION, workloadPatchName } from "#workload-patch";
import { patchIn } from "../patch-config-map.ts";
import { isFlaggerCopy, patchedService } from "../patched-deployments.ts";
import type { WorldContext, WorldViewContext } from "../world/followed-world.ts";
import { performDetachCommand, type DetachCommand, type DetachProgress } from "./commands.ts";

/** State that the passes over all Deployments share. */
export type DetachShared = WorldContext & { readonly progress: DetachProgress };

type ObservedDeployment = {
  /** The service in the record; absent: there is no record. */
  readonly service: string | undefined;
  /** A service patches the Deployment, or may do so as soon as its errors are corrected. One that the owner or the environment refuses does not count. */
  readonly referenced: boolean;
  readonly configMap: KubeObject | undefined;
};

/** The next try at the latest; growing waits are in `commands.ts`. */
const RECHECK_MS = 30_000;

export const detachController = defineController<Deployment, ObservedDeployment, DetachCommand, DetachShared>({
  name: "detach",
  reconciles: deployments,
  reads: [configMaps],
  writesStatus: false,
  triggers: (enqueue, { followed }) => followed.subscribe("workloads", enqueue),
  permissions: [
    { resource: deployments, verbs: ["get", "patch"] },
    { resource: configMaps, verbs: ["create", "patch", "delete"] },
  ],
  observe,
  plan,
  perform: performDetachCommand,
});

function observe(deployment: Deployment, context: ReadRuntime & WorldViewContext): Promise<Result<ObservedDeployment, FailureCause>> {
  const { cache, followed } = context;
  const { namespace = "", name } = deployment.metadata;
  const service = patchedService(deployment);
  const referenced = followed.world.patcherOf(deployment.metadata) !== undefined;
  const configMap = cache.get(configMaps, { namespace: followed.reach.home, name: workloadPatchName({ namespace, name }) });
  return Promise.resolve(ok({ service, referenced, configMap }));
}

function plan(deployment: Deployment, observed: ObservedDeployment): Result<Plan<DetachCommand>, PlanError> {
  const { service, referenced, configMap } = observed;
  const { metadata } = deployment;
  const detaching = patchIn(configMap)?.detach === true;
  if (isFlaggerCopy(deployment)) return nothing;
  if (service === undefined) {
    // the label alone is not Lattice's: where Lattice has set it, there is a record or a request
    const isAsked = metadata.annotations?.[REQUEST_ANNOTATION] !== undefined;
    const clear: readonly DetachCommand[] = isAsked && !referenced ? [{ kind: "clear-request", deployment }] : [];
    // without a record there is nothing to take off, and the next write of the owner must not be patched
    const isLeft = configMap !== undefined && (detaching || !referenced);
    return ok({ apply: [], commands: isLeft ? [{ kind: "forget", deployment, configMap }, ...clear] : clear });
  }
  if (referenced) return nothing;
  const message = `the changes of LatticeService ${service} are taken off`;
  return ok({
    apply: [],
    commands: [{ kind: "detach", deployment, service, detaching }],
    outcome: waiting("Detaching", RECHECK_MS, message),
  });
}
