/**
 * Applies a LatticeService: compiled together with all other declarations, applied in order, its rollout watched.
 *
 * A service that cannot be compiled keeps its running workload, and the status reports the errors; its policies and routes still follow the
 * declarations (`access.ts`), because a revocation cannot wait for a template. When one service changes, only the services whose objects
 * depend on it are compiled again (`world/`).
 */
import { ok, type Result } from "#base";
import { defineController, failed, stalled, waiting, watch, type Plan, type PlanError, type ReconcileOutcome } from "#controller-runtime";
import { latticeServices, type LatticeService } from "#crds";
import {
  deployments,
  describeObject,
  gateways,
  keyText,
  meshKindOf,
  meshKinds,
  namespaces,
  parseKey,
  peerAuthentications,
  pods,
  replicaSets,
  secretsByMetadata,
  type KubeObject,
  type Resource,
} from "#kube";
import { serviceId } from "#mesh-compiler";
import { SERVICE_LABEL } from "#service-compiler";
import { describeErrors } from "../acceptance/conditions.ts";
import { isHeld } from "../namespace/protection.ts";
import type { WorldContext } from "../world/followed-world.ts";
import { MOUNTED_RESOURCES } from "../world/mounted-objects.ts";
import { performServiceCommand, recordCommand, type ServiceCommand, type ServiceShared } from "./commands.ts";
import { NEW_SERVICE, workloadReason } from "./conditions.ts";
import { notCompiledOutcome } from "./error-text.ts";
import { observe, type ObservedService, type ServiceView } from "./observe.ts";
import type { OwnedObject } from "./owned-objects.ts";
import { patchProgress } from "./patch-progress.ts";
import { canaryServiceIndex, serviceToApply } from "./patch-service.ts";
import { isStorable, needsRequest, patchToRelease, type PatchState } from "./patch-state.ts";
import { accessKinds, CONTROLLER_NAME, ownedKinds } from "../owned-kinds.ts";
import { copiesIndex, patchedByIndex, serviceOfPods } from "../patched-deployments.ts";
import { outcomeOf, readinessOf } from "./readiness.ts";
import { rolloutOf } from "./rollout.ts";
import { routeRecord, type RouteRecord } from "./route-record.ts";
import { situationOf, type CompiledState, type ServiceState } from "./state.ts";
import { statusOf } from "./status.ts";
import { tearDownService } from "./teardown.ts";

/** The namespace gets its default deny within a second. */
const NAMESPACE_RECHECK_MS = 1_000;

/** The data of the plan that `status` needs. */
type ServiceDetails = { readonly state: ServiceState; readonly routes: RouteRecord | undefined };

export const serviceController = defineController<LatticeService, ObservedService, ServiceCommand, ServiceShared, ServiceDetails>({
  name: CONTROLLER_NAME,
  reconciles: latticeServices,
  owns: ownedKinds,
  access: accessKinds,
  announces: ["DependenciesOpen", "WorkloadPatched", "FieldsUsed"],
  indexes: [patchedByIndex, copiesIndex, canaryServiceIndex],
  reads: [namespaces, peerAuthentications, gateways],
  optional: meshKinds,
  watches: [
    watch(secretsByMetadata, (secret, { followed }: WorldContext) => followed.secrets.usedBy(secret).map(parseKey)),
    ...(["Secret", "ConfigMap", "PersistentVolumeClaim"] as const).map((kind) =>
      watch(MOUNTED_RESOURCES[kind], (object, { followed }: WorldContext) => followed.mounted.usedBy(kind, object).map(parseKey)),
    ),
    // Flagger's copy of a Deployment has no owner label, and serves the traffic
    watch(deployments, (deployment, { followed }: WorldContext) => {
      const { metadata } = deployment;
      const { namespace = "", labels = {} } = metadata;
      const names = [labels[SERVICE_LABEL], serviceOfPods(deployment)].flatMap((name) => name ?? []);
      const keys = names.flatMap((name) => followed.world.keyOf(serviceId(namespace, name)) ?? []);
      return [...new Set([...keys, ...followed.world.patching(metadata)])].map(parseKey);
    }),
  ],
  triggers: (enqueue, { followed }) => followed.subscribe("services", enqueue),
  permissions: [pods, replicaSets].map((resource: Resource) => ({ resource, verbs: ["list"] })),
  observe,
  plan,
  perform: performServiceCommand,
  status: (service, _observed, { details, ...end }) =>
    details === undefined ? {} : { ...statusOf(service, details.state, end), routes: details.routes },
  teardown: tearDownService,
});

function plan(service: LatticeService, observed: ObservedService): Result<Plan<ServiceCommand, ServiceDetails>, PlanError> {
  const key = keyText(service.metadata);
  const situation = situationOf(service, observed);
  const { result } = situation;
  const commands = result === undefined ? [] : [recordCommand(key, result, observed)];
  if (!situation.complete) return ok({ apply: [], prune: false, commands, again: true });
  const { state } = situation;
  const patching = patchCommands(service, state, observed.view);
  if (patching.some(({ kind }) => kind === "check-patch"))
    return ok({ apply: [], prune: false, commands: [...commands, ...patching], again: true });
  const routes = routeRecord(service, observed.view.followed.world.heldRoutes(key), observed.timestamp);
  const { objects, kinds } = state.access;
  const all = [...commands, ...patching];
  const common = {
    access: { apply: objects, kinds },
    apply: [],
    prune: false,
    commands: all,
    commandsAnyway: true,
    details: { state, routes },
  };
  return ok({ ...common, ...planOf(state) });
}

type StatePlan = Omit<Plan<ServiceCommand>, "access" | "commands" | "apply" | "details"> &
  Partial<Pick<Plan<ServiceCommand>, "apply" | "commands">>;

function planOf(state: ServiceState): StatePlan {
  switch (state.kind) {
    case "invalid":
      return { outcome: stalled("InvalidSpec", describeErrors(state.errors)) };
    case "not-compiled":
      return {
        outcome:
          state.graceMs > 0
            ? waiting("NotCompiled", state.graceMs, NEW_SERVICE)
            : notCompiledOutcome(state.errors, workloadReason(state.errors)),
      };
    case "unread":
      return { outcome: failed(state.cause) };
    case "no-hash-key":
      return { commands: [{ kind: "create-hash-key" }], again: true };
    case "detaching":
      return { outcome: waiting("Detaching", NAMESPACE_RECHECK_MS, state.message) };
    case "waiting":
      return { outcome: waitFor(state) };
    case "compiled":
      return workloadPlan(state);
  }
}

function workloadPlan(state: CompiledState): StatePlan {
  const {
    application,
    access: { missing },
    workload,
    recheckMs,
    retained,
    patch,
  } = state;
  const progress = patch === undefined ? undefined : patchProgress(patch);
  const outcome = outcomeOf(readinessOf(missing, rolloutOf(workload), progress), nextCheck(patch, recheckMs));
  if (isHeld(missing)) return { outcome };
  const absent = [...missing.protecting, ...missing.others];
  const isAccess = (object: KubeObject) => accessKinds.some(({ kind }) => kind === object.kind);
  const apply = application.objects
    .filter(({ object }) => !isAccess(object) && !absent.some((resource) => resource === meshKindOf(object)))
    .flatMap(({ object, once }) => {
      if (once !== undefined) return [{ object, once }];
      return object.kind === "Service" ? serviceToApply(object, state.service) : [object];
    });
  // objects of a kind that is not served are not in the cache, so nothing of it is deleted
  const known = ownedKinds.filter((resource) => !absent.includes(resource)).map(({ kind }) => kind);
  const left = progress?.done === true && workload.available ? [] : (patch?.left ?? []);
  const keep = new Set([...retained.map(({ object }) => object), ...left.map(nameOfOwned)]);
  // last: the webhook applies the patch, which refers to all of them
  const stored = patch !== undefined && isStorable(patch) ? [patch.configMap] : [];
  return { apply: stored.length === 0 ? apply : [apply, stored], outcome, prune: { kinds: new Set(known), keep } };
}

function nameOfOwned({ resource, object }: OwnedObject): string {
  return describeObject({ ...object, kind: resource.kind });
}

/** The next request for a patch that the webhook did not apply. */
function nextCheck(patch: PatchState | undefined, recheckMs: number): number {
  return patch?.request === undefined ? recheckMs : Math.max(1, patch.waitMs);
}

/** Commands of patch mode; "check": the state is not final before it. */
function patchCommands(service: LatticeService, state: ServiceState, view: ServiceView): readonly ServiceCommand[] {
  const key = keyText(service.metadata);
  if (state.kind === "not-compiled") {
    const configMap = patchToRelease(service, state.errors, view);
    return configMap === undefined ? [] : [{ kind: "release-patch", configMap }];
  }
  if (state.kind !== "compiled" || state.patch === undefined || isHeld(state.access.missing)) return [];
  const { patch } = state;
  if (patch.rejection === "unknown") return [{ kind: "check-patch", key, state: patch }];
  return needsRequest(patch) ? [{ kind: "request-patch", key, state: patch }] : [];
}

function waitFor({ reason, message }: Extract<ServiceState, { kind: "waiting" }>): ReconcileOutcome {
  return reason === "NamespaceOutOfReach" ? stalled(reason, message) : waiting(reason, NAMESPACE_RECHECK_MS, message);
}
