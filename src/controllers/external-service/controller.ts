/** Applies a LatticeExternalService: its ServiceEntries. The policies of the callers decide who may call it. */
import { ok, type Result } from "#base";
import type { ServiceError } from "#compile";
import {
  defineController,
  REQUEUE,
  stalled,
  waiting,
  type DesiredStatus,
  type ReconcileOutcome,
  type PassResult,
  type Plan,
  type PlanError,
  type ReadRuntime,
} from "#controller-runtime";
import { latticeExternalServices, parseLatticeExternalService, type FieldError, type LatticeExternalService } from "#crds";
import { keyText, namespaces, serviceEntries, type KubeObject, type NewCondition } from "#kube";
import { splitId, type MeshNode } from "#mesh-compiler";
import { acceptedCondition, describeErrors, implementedCondition } from "../acceptance/conditions.ts";
import { reachProblem } from "../reach.ts";
import { describeMissing } from "../namespace/protection.ts";
import { listErrors, notCompiledOutcome, waitingText } from "../service/error-text.ts";
import type { WorldContext, WorldViewContext } from "../world/followed-world.ts";

type ObservedExternal =
  | { readonly kind: "invalid"; readonly errors: readonly FieldError[] }
  | { readonly kind: "not-compiled"; readonly errors: readonly ServiceError[] }
  | { readonly kind: "waiting"; readonly reason: keyof typeof EXTERNAL_SERVICE_REASONS; readonly message: string }
  | { readonly kind: "compiled"; readonly objects: readonly KubeObject[]; readonly hosts: readonly string[]; readonly served: boolean };

/** Reasons in the conditions of a LatticeExternalService, with when each occurs; docs are checked against them. */
export const EXTERNAL_SERVICE_REASONS = {
  Compiled: "Ready: the external service is known to the mesh",
  CompileError: "Ready: it was not compiled; the message has what is wrong and what would fix it",
  DependencyNotFound: "Ready: its LatticeEnvironment does not exist yet; it is compiled as soon as it exists",
  CRDsMissing: "Ready: the cluster has no ServiceEntries; it goes on by itself when Istio is installed",
  NamespaceNotReady: "Ready: the namespace of its environment does not exist yet",
  NamespaceOutOfReach:
    "Ready: the operator runs with `--namespaces` and has no rights in the namespace; the message has the command that grants them",
} as const satisfies Record<string, string>;

export const externalServiceController = defineController<LatticeExternalService, ObservedExternal, never, WorldContext>({
  name: "external-service",
  reconciles: latticeExternalServices,
  owns: [serviceEntries],
  access: [serviceEntries],
  reads: [namespaces],
  optional: [serviceEntries],
  triggers: (enqueue, { followed }) => followed.subscribe("externals", enqueue),
  observe: (external, context) => Promise.resolve(ok(observeExternal(external, context))),
  plan,
  status: statusOf,
  // entries in the namespace of an environment have no owner reference: the runtime deletes them
  finalizer: "lattice.dev/external-service",
});

function observeExternal(
  external: LatticeExternalService,
  { followed: { world, reach }, cache }: WorldViewContext & Pick<ReadRuntime, "cache">,
): ObservedExternal {
  const parsed = parseLatticeExternalService(external);
  if (!parsed.ok) return { kind: "invalid", errors: parsed.error };
  const compiled = world.compileExternal(keyText(external.metadata));
  if (!compiled.ok) return { kind: "not-compiled", errors: compiled.error };
  const id = world.idOf(keyText(external.metadata)) ?? "";
  const { namespace } = splitId(id);
  const beyond = reachProblem(namespace, reach, cache);
  if (beyond !== undefined) return { kind: "waiting", reason: "NamespaceOutOfReach", message: beyond.message };
  if (cache.get(namespaces, { name: namespace }) === undefined)
    return { kind: "waiting", reason: "NamespaceNotReady", message: `namespace ${namespace} does not exist yet` };
  return { kind: "compiled", objects: compiled.value, hosts: hostsOf(world.mesh.graph.get(id)), served: cache.isServed(serviceEntries) };
}

/** Endpoints as declared: the names that the mesh generates for addresses mean nothing to users. */
function hostsOf(node: MeshNode | undefined): readonly string[] {
  return node?.kind === "external" ? [...new Set(node.endpoints.map(({ host }) => host))].toSorted() : [];
}

const NAMESPACE_RECHECK_MS = 1_000;

const ENTRIES: ReadonlySet<string> = new Set([serviceEntries.kind]);
/** Prunes its ServiceEntries: the mesh has none of its hosts. */
const CLOSED: Plan<never> = { access: { apply: [], kinds: ENTRIES }, apply: [], prune: false, commands: [] };

function plan(_external: LatticeExternalService, observed: ObservedExternal): Result<Plan<never>, PlanError> {
  switch (observed.kind) {
    case "invalid":
      return ok({ ...CLOSED, outcome: stalled("InvalidSpec", describeErrors(observed.errors)) });
    case "not-compiled":
      return ok({ ...CLOSED, outcome: notCompiledOutcome(observed.errors) });
    case "waiting":
      return ok({ apply: [], commands: [], outcome: waitFor(observed) });
    case "compiled":
      if (observed.served) return ok({ ...CLOSED, access: { apply: observed.objects, kinds: ENTRIES } });
      return ok({ apply: [], commands: [], outcome: stalled("CRDsMissing", describeMissing([serviceEntries]), REQUEUE.compileErrorMs) });
  }
}

function waitFor({ reason, message }: Extract<ObservedExternal, { kind: "waiting" }>): ReconcileOutcome {
  return reason === "NamespaceOutOfReach" ? stalled(reason, message) : waiting(reason, NAMESPACE_RECHECK_MS, message);
}

function statusOf({ status }: LatticeExternalService, observed: ObservedExternal, { outcome }: PassResult): DesiredStatus {
  const conditions = [
    acceptedCondition(observed.kind === "invalid" ? observed.errors : []),
    ...implementedCondition([], status?.conditions),
  ];
  if (observed.kind === "invalid") return { phase: "Failed", message: describeErrors(observed.errors), conditions };
  if (observed.kind === "not-compiled") {
    const waits = waitingText(observed.errors);
    const message = waits ?? listErrors(observed.errors);
    return { phase: waits === undefined ? "Failed" : "Pending", message, hosts: undefined, conditions };
  }
  if (observed.kind === "waiting") return { phase: "Pending", message: observed.message, conditions };
  if (outcome.kind === "failed") return { message: outcome.cause.message, conditions };
  if (!observed.served) return { phase: "Pending", message: describeMissing([serviceEntries]), hosts: undefined, conditions };
  const { hosts } = observed;
  const ready: NewCondition = { type: "Ready", status: "True", reason: "Compiled", message: "All resources compiled and applied" };
  return { phase: "Ready", message: `open to its requesters: ${hosts.join(", ")}`, hosts, conditions: [...conditions, ready] };
}
