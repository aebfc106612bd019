/**
 * Brings a LatticeService into the cluster: compiled in the world of all the others, applied in order, its rollout watched.
 *
 * A service that cannot be compiled goes on as it ran before, and the status says what is wrong; its policies and routes follow the declarations
 * all the same (`access.ts`), because a revocation cannot wait for a template. When one changes, those whose objects follow from it are compiled
 * anew too, and no others (`world/`).
 */
import { ok, timestamp, type Result } from "#base";
import {
  defineController,
  failed,
  settled,
  stalled,
  waiting,
  watch,
  type FailureCause,
  type Controller,
  type ReconcileOutcome,
  type Plan,
  type PlanError,
} from "#controller-runtime";
import { latticeServices, type LatticeService } from "#crds";
import {
  deployments,
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
import { namespaceOfEnvironment } from "#compile";
import { serviceId } from "#mesh-compiler";
import { SERVICE_LABEL } from "#service-compiler";
import { describeErrors } from "../acceptance/conditions.ts";
import { isHeld } from "../namespace/protection.ts";
import { reachProblem } from "../namespace/reach.ts";
import type { FollowedWorld } from "../world/followed-world.ts";
import { MOUNTED_RESOURCES } from "../world/mounted-objects.ts";
import { NEW_SERVICE } from "./conditions.ts";
import { notCompiledOutcome } from "./error-text.ts";
import { describeLeft } from "./owned-objects.ts";
import { observe, type CompiledState, type ServiceState, type ServiceControllerContext } from "./observe.ts";
import { accessKinds, CONTROLLER_NAME, ownedKinds } from "./owned-kinds.ts";
import { outcomeOf, readinessOf } from "./readiness.ts";
import { rolloutOf } from "./rollout.ts";
import { routeRecord, type RouteRecord } from "./route-record.ts";
import { statusOf } from "./status.ts";

/** The namespace is closed within moments. */
const NAMESPACE_SOON_MS = 1_000;

type Seen = ServiceState & { readonly routes: RouteRecord | undefined };

export function serviceController(followed: FollowedWorld): Controller<LatticeService, Seen, never, ServiceControllerContext> {
  return defineController<LatticeService, Seen, never, ServiceControllerContext>({
    name: CONTROLLER_NAME,
    reconciles: latticeServices,
    owns: ownedKinds,
    access: accessKinds,
    announces: ["DependenciesOpen"],
    reads: [namespaces, peerAuthentications, gateways],
    optional: meshKinds,
    watches: [
      watch(secretsByMetadata, (secret) => followed.secrets.usedBy(secret).map(parseKey)),
      ...(["Secret", "ConfigMap", "PersistentVolumeClaim"] as const).map((kind) =>
        watch(MOUNTED_RESOURCES[kind], (object) => followed.mounted.usedBy(kind, object).map(parseKey)),
      ),
      // Flagger's copy of a Deployment is not ours, but it is what carries the traffic
      watch(deployments, ({ metadata: { namespace = "", labels = {} } }) => {
        const key = followed.world.keyOf(serviceId(namespace, labels[SERVICE_LABEL] ?? ""));
        return key === undefined ? [] : [parseKey(key)];
      }),
    ],
    triggers: followed.triggers("services"),
    permissions: [pods, replicaSets].map((resource: Resource) => ({ resource, verbs: ["list"] })),
    observe: observeWithRoutes,
    plan,
    perform: (command) => command,
    status: (service, seen, result) => ({ ...statusOf(service, seen, result), routes: seen.routes }),
    teardown,
  });
}

async function observeWithRoutes(service: LatticeService, context: ServiceControllerContext): Promise<Result<Seen, FailureCause>> {
  const seen = await observe(service, context);
  if (!seen.ok) return seen;
  const held = context.followed.world.heldRoutes(keyText(service.metadata));
  return ok({ ...seen.value, routes: routeRecord(service, held, timestamp(context.clock)) });
}

function plan(_service: LatticeService, observed: ServiceState): Result<Plan<never>, PlanError> {
  const { objects, kinds } = observed.access;
  const left = { access: { apply: objects, kinds }, apply: [], prune: false, commands: [] };
  switch (observed.kind) {
    case "invalid":
      return ok({ ...left, outcome: stalled("InvalidSpec", describeErrors(observed.errors)) });
    case "not-compiled":
      return ok({
        ...left,
        outcome: observed.graceMs > 0 ? waiting("NotCompiled", observed.graceMs, NEW_SERVICE) : notCompiledOutcome(observed.errors),
      });
    case "unread":
      return ok({ ...left, outcome: failed(observed.cause) });
    case "patch-mode":
      return ok({ ...left, outcome: stalled("PatchModeNotBuilt", `patch mode is not built yet${describeLeft(observed.left)}`) });
    case "waiting":
      return ok({ ...left, outcome: waitFor(observed) });
    case "compiled":
      return ok({ ...left, ...workloadPlan(observed) });
  }
}

function workloadPlan({ application, access: { missing }, workload, recheckMs, retained }: CompiledState): Omit<Plan<never>, "access"> {
  const outcome = outcomeOf(readinessOf(missing, rolloutOf(workload)), recheckMs);
  if (isHeld(missing)) return { apply: [], prune: false, commands: [], outcome };
  const absent = [...missing.protecting, ...missing.others];
  const isAccess = (object: KubeObject) => accessKinds.some(({ kind }) => kind === object.kind);
  const apply = application.objects
    .filter(({ object }) => !isAccess(object) && !absent.some((resource) => resource === meshKindOf(object)))
    .map(({ object, once }) => (once === undefined ? object : { object, once }));
  // of a kind that is missing nothing is known, so nothing of it is deleted
  const known = ownedKinds.filter((resource) => !absent.includes(resource)).map(({ kind }) => kind);
  return { apply, commands: [], outcome, prune: { kinds: new Set(known), keep: new Set(retained.map(({ object }) => object)) } };
}

function waitFor({ reason, message }: Extract<ServiceState, { kind: "waiting" }>): ReconcileOutcome {
  return reason === "NamespaceOutOfReach" ? stalled(reason, message) : waiting(reason, NAMESPACE_SOON_MS, message);
}

/**
 * What has an owner reference goes with it, the rest is released by the runtime; the world has let it go already. Objects in a namespace without
 * rights cannot be released: the finalizer stays, unless nothing was ever made there.
 */
function teardown(
  { metadata, spec, status }: LatticeService,
  { compiled, followed, cache }: ServiceControllerContext,
): Promise<ReconcileOutcome> {
  const { environment } = spec;
  const target =
    environment === undefined ? metadata.namespace : namespaceOfEnvironment(environment, followed.world.environment(environment));
  const beyond = status?.compiledAt === undefined ? undefined : reachProblem(target ?? "", followed.reach, cache);
  if (beyond !== undefined) return Promise.resolve(stalled("NamespaceOutOfReach", `its objects are not deleted: ${beyond.message}`));
  compiled.forget(keyText(metadata));
  return Promise.resolve(settled);
}
