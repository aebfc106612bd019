/** Each reason of each condition, with its message. */
import { describe, expect, test } from "vitest";
import { err, ok } from "#base";
import type { ServiceError } from "#compile";
import { failed, NO_CHANGES, settled, stalled, type ChangeSet, type ReconcileOutcome } from "#controller-runtime";
import type { LatticeService } from "#crds";
import { canaries, ciliumNetworkPolicies, type Deployment, type KubeObject } from "#kube";
import { NONE_MISSING } from "../namespace/protection.ts";
import { SERVICE_REASONS, type ServiceReason } from "./conditions.ts";
import type { ServiceAccess } from "./access.ts";
import type { PatchState } from "./patch-state.ts";
import type { CompiledState, NotCompiled, ServiceState } from "./state.ts";
import { NO_WORKLOAD, type ServiceWorkload } from "./rollout.ts";
import { statusOf } from "./status.ts";

const service = {
  apiVersion: "lattice.dev/v1alpha1",
  kind: "LatticeService",
  metadata: { name: "api", namespace: "shop" },
  spec: {},
} as LatticeService;
const object = (kind: string): { readonly object: KubeObject } => ({
  object: { apiVersion: "v1", kind, metadata: { name: "api", namespace: "shop" } },
});
const deployment = (status: object): Deployment => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "api", namespace: "shop" },
  spec: { replicas: 2, selector: {}, template: { spec: { containers: [] } } },
  status,
});
const workload = (status: object, available: boolean): ServiceWorkload => ({ deployment: deployment(status), available });
const RUNNING = workload({ replicas: 2, updatedReplicas: 2, availableReplicas: 2 }, true);
const trouble = (type: string, status: string, reason: string, message: string) =>
  workload({ conditions: [{ type, status, reason, message }] }, false);

const noAccess: ServiceAccess = { objects: [], kinds: new Set(), missing: NONE_MISSING };

function compiled(more: Partial<CompiledState> = {}): CompiledState {
  const objects = ["ConfigMap", "ConfigMap", "Secret", "Deployment", "AuthorizationPolicy", "CiliumNetworkPolicy"].map(object);
  const application = {
    id: "shop/api",
    objects,
    resolved: 3,
    resolvedDependencies: new Map(),
    peers: new Map(),
    routes: new Map(),
    warnings: [],
  };
  return {
    kind: "compiled",
    application,
    compiledAt: "",
    workload: RUNNING,
    recheckMs: 2_000,
    retained: [],
    service: "lattice",
    access: { ...noAccess, objects: objects.slice(-2).map((one) => one.object) },
    ...more,
  };
}

type Row = {
  readonly reason: ServiceReason;
  readonly given: ServiceState;
  /** The service; default: one in ownership mode. */
  readonly of?: LatticeService;
  readonly outcome?: ReconcileOutcome;
  readonly changes?: Partial<ChangeSet>;
  readonly want: readonly string[];
};

const circle = { kind: "circular-dependency", path: ["a", "b", "a"], of: "resources" } as const;
const notCompiled: NotCompiled = { kind: "not-compiled", errors: [circle], graceMs: 0, workload: NO_WORKLOAD, access: noAccess };
const target = { namespace: "shop", name: "nginx", serviceAccount: "nginx", assumed: false };
const patched = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "nginx", namespace: "shop" } };
const applied = { deployment: patched, changed: false, missingContainers: [], conflicts: [], skipped: [] };
const basePatch: PatchState = {
  target,
  patch: { version: 1, service: "shop/api", target: { namespace: "shop", name: "nginx" }, patch: {}, envFrom: {}, variables: {} },
  digest: "0",
  configMap: patched,
  stored: true,
  deployment: patched,
  applied: ok(applied),
  rejection: undefined,
  request: undefined,
  waitMs: 0,
  left: [],
  ignored: [],
};
const inPatchMode = (more: Partial<PatchState> = {}) => compiled({ patch: { ...basePatch, ...more } });
const changed: PatchState["applied"] = ok({ ...applied, changed: true });
const conflict = { path: ["spec", "replicas"], manager: "argocd", until: "2026-01-01T00:00:00Z" };
const patchingService = {
  ...service,
  spec: { workloadRef: { kind: "Deployment", name: "nginx", namespace: "shop" }, replicas: { min: 2 } },
} as LatticeService;
const refused = (error: ServiceError): NotCompiled => ({ ...notCompiled, errors: [error] });
const WAITING =
  "waiting for service shop/api: resource 'api' of type 'service' not found (at spec.resources.api); a template reads its outputs, and there is no LatticeService shop/api; add it, or correct the id";
const MISSING = "the cluster does not have canaries.flagger.app; everything else is applied, and these follow when they are installed";

const NOT_PATCHING = { patches: false, resolved: false, left: undefined };

const bothOf = (message: string) => [`Ready=False: ${message}`, `WorkloadPatched=False: ${message}`];
const compileErrors = (message: string) => ["ConfigCompiled", "Ready"].map((type) => `${type}=False: ${message}`);
function withConditions(type: string): LatticeService {
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  return { ...service, status: { conditions: [{ type, status: "False", reason: "Patched", message: "", lastTransitionTime }] } };
}

const rows: readonly Row[] = [
  { reason: "Resolved", given: compiled(), want: ["TemplatesResolved=True: Resolved 3 template variables"] },
  {
    reason: "Compiled",
    given: compiled(),
    want: ["ConfigCompiled=True: Generated 2 ConfigMaps, 1 Secrets", "Ready=True: All resources compiled and applied"],
  },
  { reason: "RolloutComplete", given: compiled(), want: ["WorkloadsReady=True: 2 of 2 pods are ready"] },
  { reason: "Applied", given: compiled(), want: ["PoliciesApplied=True: Applied 2 policies"] },
  {
    reason: "TemplateError",
    given: notCompiled,
    want: ["TemplatesResolved=False: circular dependency detected: a -> b -> a (at spec.resources)"],
  },
  {
    reason: "CompileError",
    given: notCompiled,
    want: [
      "ConfigCompiled=False: circular dependency detected: a -> b -> a (at spec.resources)",
      "Ready=False: circular dependency detected: a -> b -> a (at spec.resources)",
    ],
  },
  {
    reason: "DependencyNotFound",
    given: { ...notCompiled, errors: [{ kind: "resource-not-found", name: "api", type: "service", id: "shop/api" }] },
    want: ["TemplatesResolved", "ConfigCompiled", "Ready"].map((type) => `${type}=False: ${WAITING}`),
  },
  {
    reason: "NotCompiled",
    given: notCompiled,
    want: [
      "DependenciesOpen=Unknown: The service is not in the mesh",
      "WorkloadsReady=Unknown: The service has not been compiled yet",
      "PoliciesApplied=Unknown: The service has not been compiled yet",
    ],
  },
  {
    reason: "RollingOut",
    given: compiled({ workload: workload({ replicas: 2, updatedReplicas: 1 }, false) }),
    want: ["WorkloadsReady=False: 1 of 2 pods are of the newest version", "Ready=False: 1 of 2 pods are of the newest version"],
  },
  {
    reason: "Unschedulable",
    given: compiled({
      workload: { ...workload({}, false), problem: { reason: "Unschedulable", message: "2 pods cannot be scheduled: 0/1 nodes" } },
    }),
    want: [
      "WorkloadsReady=False: 0 of 2 pods are ready; 2 pods cannot be scheduled: 0/1 nodes",
      "Ready=False: 0 of 2 pods are ready; 2 pods cannot be scheduled: 0/1 nodes",
    ],
  },
  {
    reason: "PodsFailing",
    given: compiled({
      workload: { ...workload({ replicas: 3, updatedReplicas: 2 }, true), problem: { reason: "PodsFailing", message: "1 pod cannot run" } },
    }),
    want: ["WorkloadsReady=False: 0 of 2 pods are ready; 1 pod cannot run"],
  },
  {
    reason: "ProgressDeadlineExceeded",
    given: compiled({ workload: trouble("Progressing", "False", "ProgressDeadlineExceeded", "it has timed out") }),
    want: ["WorkloadsReady=False: it has timed out", "Ready=False: it has timed out"],
  },
  {
    reason: "ReplicaFailure",
    given: compiled({ workload: trouble("ReplicaFailure", "True", "FailedCreate", "exceeded quota") }),
    want: ["WorkloadsReady=False: exceeded quota", "Ready=False: exceeded quota"],
  },
  {
    reason: "ApplyFailed",
    given: compiled(),
    outcome: failed({ kind: "apply", message: "1 of 6 was not applied" }),
    changes: {
      failed: [
        { object: "Deployment shop/api", kind: "rejected", message: "denied by a webhook" },
        { object: "CiliumNetworkPolicy shop/api", kind: "rejected", message: "denied by another" },
      ],
      skipped: ["HTTPRoute shop/api-web"],
    },
    want: [
      "PoliciesApplied=False: CiliumNetworkPolicy shop/api: denied by another\nHTTPRoute shop/api-web: not deleted yet, because the service changed meanwhile",
    ],
  },
  {
    reason: "CRDsMissing",
    given: compiled({ access: { ...noAccess, missing: { ...NONE_MISSING, others: [canaries] } } }),
    want: [`PoliciesApplied=False: ${MISSING}`, `Ready=False: ${MISSING}`],
  },
  {
    reason: "Unprotected",
    given: compiled({ access: { ...noAccess, missing: { protecting: [ciliumNetworkPolicies], others: [], allowed: true } } }),
    want: [
      "PoliciesApplied=False: who may talk to whom is not enforced by Cilium: the cluster does not have ciliumnetworkpolicies.cilium.io, and the operator runs with --allow-unprotected",
    ],
  },
  {
    reason: "PoliciesNotReady",
    given: { kind: "waiting", reason: "PoliciesNotReady", message: "no pod is started before X", access: noAccess },
    want: ["Ready=False: no pod is started before X"],
  },
  {
    reason: "AllOpen",
    given: compiled({ dependencies: { count: 2, closed: new Map() } }),
    want: ["DependenciesOpen=True: 2 dependencies are open"],
  },
  {
    reason: "DependenciesClosed",
    given: compiled({ dependencies: { count: 5, closed: new Map(["a", "b", "c", "d"].map((name) => [name, "has not agreed"])) } }),
    want: [
      "DependenciesOpen=False: 4 dependencies are closed: a: has not agreed\nb: has not agreed\nc: has not agreed\nand 1 more in status.closedDependencies",
    ],
  },
  {
    reason: "NamespaceNotReady",
    given: { kind: "waiting", reason: "NamespaceNotReady", message: "namespace shop is not in the mesh yet", access: noAccess },
    want: ["Ready=False: namespace shop is not in the mesh yet"],
  },
  {
    reason: "NamespaceOutOfReach",
    given: { kind: "waiting", reason: "NamespaceOutOfReach", message: "namespace shop is out of reach", access: noAccess },
    want: ["Ready=False: namespace shop is out of reach"],
  },
  { reason: "Patched", given: inPatchMode(), of: patchingService, want: ["WorkloadPatched=True: Deployment shop/nginx has the patch"] },
  {
    reason: "PatchRequested",
    given: inPatchMode({ applied: changed }),
    of: patchingService,
    want: bothOf("Deployment shop/nginx is about to be patched"),
  },
  {
    reason: "WorkloadNotFound",
    given: inPatchMode({ deployment: undefined, applied: undefined }),
    of: patchingService,
    want: bothOf("Deployment shop/nginx does not exist; it is patched when it is created"),
  },
  {
    reason: "WebhookDidNotAct",
    given: inPatchMode({ applied: changed, request: { digest: "0", count: 3, at: 0 } }),
    of: patchingService,
    want: bothOf(
      "Deployment shop/nginx was written 3 times and the admission webhook did not patch it; check that MutatingWebhookConfiguration lattice-workload-patches exists and that the API server reaches its Service or url, and that no other admission plugin removes label lattice.dev/patched; it is tried again at least every 30 s",
    ),
  },
  {
    reason: "PatchRejected",
    given: inPatchMode({ applied: err({ kind: "record-too-large", message: "the record is too large" }) }),
    of: patchingService,
    want: bothOf("Deployment shop/nginx is not patched: the record is too large"),
  },
  {
    reason: "PatchConflict",
    given: inPatchMode({ applied: ok({ ...applied, conflicts: [conflict] }) }),
    of: patchingService,
    want: bothOf(
      "Deployment shop/nginx: spec.replicas is set to another value again and again by argocd, which keeps it until 2026-01-01T00:00:00Z; remove spec.replicas from what argocd applies (the values or the template of its chart), or from this service",
    ),
  },
  {
    reason: "ContainerMissing",
    given: inPatchMode({ applied: ok({ ...applied, missingContainers: ["a", "b"] }) }),
    of: patchingService,
    want: bothOf("Deployment shop/nginx has no containers a, b, and containers are never added; it has ; correct spec.containers"),
  },
  {
    reason: "FieldsNotPatched",
    given: inPatchMode({ applied: ok({ ...applied, skipped: ["a", "b", "c", "d"].map((name) => ({ path: [name], reason: "why" })) }) }),
    of: patchingService,
    want: bothOf("Deployment shop/nginx has the patch, except: a: why; b: why; c: why; and 1 more"),
  },
  {
    reason: "FieldsIgnored",
    given: inPatchMode(),
    of: patchingService,
    want: ["FieldsUsed=False: in patch mode spec.replicas has no effect: the owner of the Deployment decides it; remove it here"],
  },
  {
    reason: "AllFieldsUsed",
    given: compiled(),
    of: withConditions("FieldsUsed"),
    want: ["FieldsUsed=True: every field has an effect"],
  },
  {
    reason: "WorkloadClaimed",
    given: refused({ kind: "workload-claimed", workload: "shop/nginx", by: "LatticeService shop/first" }),
    of: patchingService,
    want: compileErrors(
      "Deployment shop/nginx is patched by LatticeService shop/first, which takes precedence (at spec.workloadRef); move the fields to that service, or name another Deployment",
    ),
  },
  {
    reason: "WorkloadNotAllowed",
    given: refused({ kind: "workload-copy", workload: "shop/nginx-primary" }),
    of: patchingService,
    want: compileErrors(
      "Deployment shop/nginx-primary is a copy that Flagger makes and overwrites (at spec.workloadRef); name the Deployment that it is copied from",
    ),
  },
  {
    reason: "SharedServiceAccount",
    given: refused({ kind: "shared-service-account", workload: "shop/nginx" }),
    of: patchingService,
    want: ["ConfigCompiled", "Ready", "PoliciesApplied"].map(
      (type) =>
        `${type}=False: Deployment shop/nginx uses the ServiceAccount default, which other pods of the namespace share: a policy cannot tell them apart (at spec.workloadRef); set serviceAccountName of its pods to an account of its own`,
    ),
  },
  {
    reason: "Detaching",
    given: { kind: "detaching", message: "it waits", access: noAccess, standing: { ...NOT_PATCHING, left: "shop/nginx" } },
    of: withConditions("WorkloadPatched"),
    want: ["Ready=False: it waits", "WorkloadPatched=False: the changes of Deployment shop/nginx are taken off"],
  },
  {
    reason: "OwnershipMode",
    given: compiled({ standing: NOT_PATCHING }),
    of: withConditions("WorkloadPatched"),
    want: ["WorkloadPatched=False: Lattice makes and owns the Deployment"],
  },
];

describe("each reason has its condition and its message", () => {
  test.each(rows)("$reason", ({ reason, given, of = service, outcome = settled, changes = {}, want }) => {
    const { conditions = [] } = statusOf(of, given, { outcome, changes: { ...NO_CHANGES, ...changes } });
    const stated = conditions.filter((one) => one.reason === reason).map(({ type, status, message }) => `${type}=${status}: ${message}`);
    expect(stated).toEqual(want);
  });

  test("a service that is not in the mesh leaves condition WorkloadPatched of a former patch", () => {
    const given: ServiceState = { kind: "waiting", reason: "PoliciesNotReady", message: "", access: noAccess };
    const { conditions = [] } = statusOf(withConditions("WorkloadPatched"), given, { outcome: settled, changes: NO_CHANGES });
    expect(conditions.map(({ type }) => type)).not.toContain("WorkloadPatched");
  });

  test("there is a row for every reason that the documentation lists", () => {
    expect(rows.map(({ reason }) => reason).toSorted()).toEqual(Object.keys(SERVICE_REASONS).toSorted());
  });

  test("closed dependencies are listed up to a limit", () => {
    const closed = new Map(Array.from({ length: 5_000 }, (_, n) => [`r${n}`, "x".repeat(9_999)] as const));
    const listed = statusOf(service, compiled({ dependencies: { count: 5_000, closed } }), { outcome: settled, changes: NO_CHANGES });
    const entries = Object.entries(listed["closedDependencies"] as Readonly<Record<string, string>>);
    expect([entries.length, entries[0]?.[1].length]).toEqual([128, 1_024]);
  });

  test("every service has six conditions, in every state", () => {
    for (const given of [
      compiled(),
      notCompiled,
      inPatchMode(),
      rows.find(({ reason }) => reason === "NamespaceNotReady")?.given ?? inPatchMode(),
    ]) {
      const { conditions = [] } = statusOf(service, given, { outcome: stalled("X", ""), changes: NO_CHANGES });
      const types = conditions.map(({ type }) => type);
      for (const type of ["TemplatesResolved", "ConfigCompiled", "WorkloadsReady", "PoliciesApplied", "DependenciesOpen", "Ready"])
        expect(types).toContain(type);
    }
  });
});
