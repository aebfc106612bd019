/** Plans that are refused, each with its reason. */
import { expect, test } from "vitest";
import { apiVersionOf, capiClusters, capiMachines, capiProviders, secrets, type KubeObject, type Resource } from "#kube";
import { versionText } from "../graph/move-kind.ts";
import { buildGraph, type ObjectGraph } from "../graph/object-graph.ts";
import { outlineOf } from "../graph/outline.ts";
import { beingDeleted, planProblems, type MoveFacts } from "./problems.ts";

type Parts = { readonly spec?: object; readonly status?: object; readonly metadata?: object };

function object(resource: Resource, name: string, { spec, status, metadata }: Parts = {}): KubeObject {
  const meta = { name, namespace: "a", uid: `${resource.kind}/${name}`, ...metadata };
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: meta,
    ...(spec && { spec }),
    ...(status && { status }),
  };
}

const initialized = {
  type: "ControlPlaneInitialized",
  status: "True",
  reason: "x",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
};
const provisioned = { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true }, conditions: [initialized] };
const controlPlaneRef = { kind: "KubeadmControlPlane", name: "cp" };
const cluster = (more: Parts = {}) => object(capiClusters, "c", { spec: { controlPlaneRef }, status: provisioned, ...more });
const owned = { ownerReferences: [{ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "c", uid: "Cluster/c" }] };
const machine = (status: object, metadata: object = {}) => object(capiMachines, "m", { status, metadata: { ...owned, ...metadata } });
const provider = (version: string, name = "docker") =>
  ({ ...object(capiProviders, `infrastructure-${name}`), providerName: name, type: "InfrastructureProvider", version }) as KubeObject;

/** As a move plans: of outlines. */
function graphOf(...objects: readonly KubeObject[]): ObjectGraph {
  const kinds = [capiClusters, capiMachines, secrets] as readonly Resource[];
  const discovered = objects.map((one) => {
    const resource = kinds.find(({ kind }) => kind === one.kind) ?? capiClusters;
    return {
      object: outlineOf(one),
      kind: { resource, rule: one.kind === "Cluster" ? ("hierarchy" as const) : ("owned" as const), hasStatus: true },
    };
  });
  return buildGraph({ namespace: "a", objects: discovered, classesUsedElsewhere: new Set() });
}

const served = new Set([capiClusters, capiMachines, secrets].map(versionText));
const facts = (more: Partial<MoveFacts> = {}): MoveFacts => ({
  graph: graphOf(cluster(), machine({ nodeRef: { name: "n" } })),
  providers: [provider("v1.14.0")],
  unlabelled: [],
  target: { providers: [provider("v1.14.0")], served },
  ...more,
});

test("a provisioned cluster with providers in the target has no problem", () => {
  expect(planProblems(facts())).toEqual([]);
  expect(planProblems(facts({ target: { providers: [provider("v1.13.0"), provider("v1.15.1")], served } }))).toEqual([]);
});

const rows: readonly { name: string; given: Partial<MoveFacts>; want: string }[] = [
  {
    name: "a provider is missing",
    given: { target: { providers: [], served } },
    want: "the target has no provider infrastructure-docker; install it there in version v1.14.0 or newer",
  },
  {
    name: "a provider is older",
    given: { target: { providers: [provider("v1.13.9")], served } },
    want: "provider infrastructure-docker is older in the target (v1.13.9) than in the source (v1.14.0); upgrade it there",
  },
  {
    name: "a provider of another name",
    given: { target: { providers: [provider("v1.14.0", "aws")], served } },
    want: "the target has no provider infrastructure-docker",
  },
  {
    name: "a version cannot be compared",
    given: { target: { providers: [provider("main")], served } },
    want: 'provider infrastructure-docker: the version "main" or "v1.14.0" cannot be compared',
  },
  {
    name: "a kind is not served in the version of the source",
    given: { target: { providers: [provider("v1.14.0")], served: new Set([versionText(capiClusters)]) } },
    want: "the target does not serve machines.cluster.x-k8s.io in version v1beta2; install or upgrade its provider there",
  },
  {
    name: "the infrastructure is not provisioned",
    given: { graph: graphOf(cluster({ status: { initialization: {} } })) },
    want: "the infrastructure of Cluster a/c is not provisioned yet; wait until it is",
  },
  {
    name: "the control plane is not initialized, by its condition",
    given: { graph: graphOf(cluster({ status: { ...provisioned, conditions: [] } })) },
    want: "the control plane of Cluster a/c is not initialized yet; wait until it is",
  },
  {
    name: "the control plane is not initialized, by its status",
    given: { graph: graphOf(cluster({ status: { ...provisioned, initialization: { infrastructureProvisioned: true } } })) },
    want: "the control plane of Cluster a/c is not initialized yet; wait until it is",
  },
  {
    name: "a machine has no node",
    given: { graph: graphOf(cluster(), machine({})) },
    want: "Machine a/m has no node yet; wait until it has, or delete the machine",
  },
  {
    name: "an owner is not moved",
    given: { graph: graphOf(cluster({ metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "?" }] } })) },
    want: "Cluster a/c is owned by ConfigMap x, which is not of a kind that is moved",
  },
  {
    name: "a kind is not labelled",
    given: { unlabelled: [object({ ...capiMachines, kind: "MachinePool" }, "p", { metadata: owned })] },
    want: "MachinePool a/p is owned by Cluster c and would be lost: the definition of its kind has no label clusterctl.cluster.x-k8s.io; add the label",
  },
  {
    name: "a class of another namespace",
    given: { graph: graphOf(cluster({ spec: { controlPlaneRef, topology: { classRef: { name: "k", namespace: "b" } } } })) },
    want: "Cluster a/c uses a ClusterClass of namespace b; classes of other namespaces are not moved: copy the class first",
  },
  {
    name: "a reference leads nowhere",
    given: {
      graph: {
        ...graphOf(cluster(), machine({ nodeRef: { name: "n" } })),
        unresolved: [{ from: cluster(), reference: { kind: "Secret", name: "s", namespace: "b", at: "spec.credentialsRef" } }],
      },
    },
    want: "Cluster a/c refers to Secret b/s in spec.credentialsRef, which does not exist; create it, or remove the reference",
  },
];

test.for(rows)("refused: $name", ({ given, want }) => {
  expect(planProblems(facts(given))).toEqual([expect.stringContaining(want)]);
});

test("all reasons are given at once", () => {
  const graph = graphOf(cluster({ status: {} }), machine({}));
  expect(planProblems(facts({ graph, target: { providers: [], served } }))).toHaveLength(3);
});

test("an object that is being deleted is finished at the source, and needs no node", () => {
  const graph = graphOf(cluster(), machine({}, { deletionTimestamp: "2026-01-01T00:00:00Z" }));
  expect(planProblems(facts({ graph }))).toEqual([]);
  expect(beingDeleted(graph).map(({ kind }) => kind)).toEqual(["Machine"]);
});
