/** Which objects a move takes along, and why not. */
import { expect, test } from "vitest";
import { seededRandom } from "#base";
import {
  apiVersionOf,
  capiClusters,
  capiMachines,
  clusterResourceSetBindings,
  configMaps,
  defineResource,
  secrets,
  type KubeObject,
  type Resource,
} from "#kube";
import type { MoveKind, MoveRule } from "./move-kind.ts";
import type { DiscoveredObject } from "./name-index.ts";
import { buildGraph, type ObjectGraph } from "./object-graph.ts";
import { outlineOf } from "./outline.ts";

const classes = defineResource<KubeObject>({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "ClusterClass",
  plural: "clusterclasses",
  namespaced: true,
});
const awsClusters = defineResource<KubeObject>({
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "AWSCluster",
  plural: "awsclusters",
  namespaced: true,
});
const identities = { ...awsClusters, kind: "AWSClusterStaticIdentity", plural: "awsclusterstaticidentities", namespaced: false };
const configs = defineResource<KubeObject>({
  group: "bootstrap.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "KubeadmConfig",
  plural: "kubeadmconfigs",
  namespaced: true,
});
const RULES = new Map<Resource, MoveRule>([
  [capiClusters, "hierarchy"],
  [classes, "hierarchy"],
]);

type Parts = {
  readonly owners?: readonly Resource[];
  readonly namespace?: string | undefined;
  readonly spec?: object;
  readonly labels?: Record<string, string>;
};

/** Owners are named by their kind: uids are "Kind/name" of the first object of that kind, or of one that does not exist. */
function object(
  resource: Resource,
  name: string,
  { owners = [], namespace = "a", spec, labels }: Parts = {},
): DiscoveredObject<KubeObject> {
  const kind: MoveKind = { resource, rule: RULES.get(resource) ?? "owned", hasStatus: true };
  const ownerReferences = owners.map((owner) => ({ apiVersion: apiVersionOf(owner), kind: owner.kind, name: "o", uid: `${owner.kind}/o` }));
  const metadata = {
    name,
    uid: `${resource.kind}/${name}`,
    ...(resource.namespaced ? { namespace } : {}),
    ...(labels === undefined ? {} : { labels }),
    ...(ownerReferences.length === 0 ? {} : { ownerReferences }),
  };
  const body = spec === undefined ? {} : { spec };
  return { kind, object: { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, ...body } };
}

/** Of whole objects, and the same of their outlines. */
function graphOf(...objects: readonly DiscoveredObject<KubeObject>[]): ObjectGraph<KubeObject> {
  const rest = { namespace: "a", classesUsedElsewhere: new Set<string>() };
  const graph = buildGraph({ ...rest, objects });
  const outlines = buildGraph({ ...rest, objects: objects.map(({ kind, object: whole }) => ({ kind, object: outlineOf(whole) })) });
  expect(describeGraph(outlines)).toEqual(describeGraph(graph));
  return graph;
}

const describeGraph = (graph: ObjectGraph) => ({
  moved: uids(graph),
  left: graph.left.map(({ metadata }) => metadata.uid),
  unresolved: graph.unresolved.map(({ from, reference }) => ({ from: from.metadata.uid, reference })),
  problems: graph.problems,
});
const uids = (graph: ObjectGraph) => graph.moved.map(({ uid, level, kept }) => `${level} ${uid}${kept === undefined ? "" : ` (${kept})`}`);

const rows: readonly { name: string; given: readonly DiscoveredObject<KubeObject>[]; want: readonly string[] }[] = [
  {
    name: "what a Cluster owns is moved after it",
    given: [object(capiMachines, "m", { owners: [capiClusters] }), object(capiClusters, "o")],
    want: ["0 Cluster/o", "1 Machine/m"],
  },
  {
    name: "what nothing owns is left",
    given: [object(capiClusters, "o"), object(secrets, "x"), object(configMaps, "y")],
    want: ["0 Cluster/o"],
  },
  {
    name: "Secrets without owners belong to the Cluster that their name begins with",
    given: [
      object(capiClusters, "o"),
      object(secrets, "o-kubeconfig"),
      object(secrets, "o-other"),
      object(secrets, "p-ca"),
      object(secrets, "o-apiserver-etcd-client"),
    ],
    want: ["0 Cluster/o", "1 Secret/o-apiserver-etcd-client", "1 Secret/o-kubeconfig"],
  },
  {
    name: "a Secret of that name in another namespace does not",
    given: [object(capiClusters, "o"), object(secrets, "o-ca", { namespace: "b" })],
    want: ["0 Cluster/o"],
  },
  {
    name: "a binding of a ClusterResourceSet follows its Cluster",
    given: [object(clusterResourceSetBindings, "b", { spec: { clusterName: "o" } }), object(capiClusters, "o")],
    want: ["0 Cluster/o", "1 ClusterResourceSetBinding/b"],
  },
  {
    name: "a Cluster follows its class",
    given: [object(capiClusters, "o", { spec: { topology: { classRef: { name: "k" } } } }), object(classes, "k")],
    want: ["0 ClusterClass/k", "1 Cluster/o"],
  },
  {
    name: "a labelled object is moved alone",
    given: [object(configMaps, "l", { labels: { "clusterctl.cluster.x-k8s.io/move": "" } }), object(configMaps, "m")],
    want: ["0 ConfigMap/l"],
  },
  {
    name: "an identity and its Secret beside the provider are copied and kept",
    given: [
      object(capiClusters, "o"),
      object(awsClusters, "i", { owners: [capiClusters], spec: { identityRef: { kind: "AWSClusterStaticIdentity", name: "id" } } }),
      object(identities, "id", { spec: { secretRef: "credentials" } }),
      object(secrets, "credentials", { namespace: "capa-system" }),
    ],
    want: ["0 AWSClusterStaticIdentity/id (cluster-scoped)", "0 Cluster/o", "0 Secret/credentials (other-namespace)", "1 AWSCluster/i"],
  },
  {
    name: "Secrets that bootstrap data reads are moved",
    given: [
      object(capiClusters, "o"),
      object(configs, "c", { owners: [capiClusters], spec: { files: [{ contentFrom: { secret: { name: "token", key: "t" } } }] } }),
      object(secrets, "token"),
    ],
    want: ["0 Cluster/o", "0 Secret/token", "1 KubeadmConfig/c"],
  },
  {
    name: "the journal of a move is never moved",
    given: [object(capiClusters, "o"), object(secrets, "o-ca", { labels: { "lattice.dev/move-journal": "batch" } })],
    want: ["0 Cluster/o"],
  },
];

test.for(rows)("$name", ({ given, want }) => {
  const graph = graphOf(...given);
  expect(uids(graph)).toEqual(want);
  expect(graph.problems).toEqual([]);
  expect(graphOf(...given.toReversed())).toEqual(graph);
});

test("an owner that is not moved is a problem, not an object that is left behind", () => {
  const graph = graphOf(object(capiClusters, "o", { owners: [configMaps] }));
  expect(graph.problems).toEqual([
    "Cluster a/o is owned by ConfigMap o, which is not of a kind that is moved; remove the owner reference, or label its kind for the move",
  ]);
  const known = graphOf(
    object(capiMachines, "m", { owners: [capiClusters, configMaps] }),
    object(capiClusters, "o"),
    object(configMaps, "o"),
  );
  expect(known.problems).toEqual([expect.stringContaining("which no Cluster owns")]);
});

test("owners that own each other are a problem", () => {
  const graph = graphOf(object(capiClusters, "o", { owners: [capiMachines] }), object(capiMachines, "o", { owners: [capiClusters] }));
  expect(graph.problems).toHaveLength(2);
  expect(graph.problems[0]).toContain("owns itself through its owner references");
});

test("a reference to an object that was not discovered is reported with its field", () => {
  const spec = { credentialsRef: { name: "c", namespace: "other" } };
  const graph = graphOf(object(capiClusters, "o"), object(awsClusters, "i", { owners: [capiClusters], spec }));
  expect(graph.unresolved).toEqual([
    {
      from: expect.objectContaining({ kind: "AWSCluster" }) as unknown,
      reference: { kind: "Secret", name: "c", namespace: "other", at: "spec.credentialsRef" },
    },
  ]);
});

test("a class that Clusters of other namespaces use is kept, with what it owns", () => {
  const objects = [object(classes, "o"), object(configMaps, "t", { owners: [classes] }), object(capiClusters, "x")];
  const graph = buildGraph({ namespace: "a", objects, classesUsedElsewhere: new Set(["o"]) });
  expect(uids(graph)).toEqual(["0 Cluster/x", "0 ClusterClass/o (used-elsewhere)", "1 ConfigMap/t (used-elsewhere)"]);
});

const CLASS_USED: readonly string[] = ["o"];
const topology = { topology: { classRef: { name: "o" } } };

test("of a class that is used elsewhere, only the class and what it owns is kept: not its Clusters, nor what they own", () => {
  const objects = [
    object(classes, "o"),
    object(configMaps, "template", { owners: [classes] }),
    object(capiClusters, "o", { spec: topology }),
    object(capiMachines, "m", { owners: [capiClusters] }),
    object(secrets, "o-ca"),
    object(clusterResourceSetBindings, "b", { spec: { clusterName: "o" } }),
  ];
  const graph = buildGraph({ namespace: "a", objects, classesUsedElsewhere: new Set(CLASS_USED) });
  expect(uids(graph)).toEqual([
    "0 ClusterClass/o (used-elsewhere)",
    "1 Cluster/o",
    "1 ConfigMap/template (used-elsewhere)",
    "2 ClusterResourceSetBinding/b",
    "2 Machine/m",
    "2 Secret/o-ca",
  ]);
  expect(graph.problems).toEqual([]);
});

test("Clusters that a cluster-scoped object owns are not kept with it", () => {
  const tenants = { ...identities, kind: "Tenant", plural: "tenants" };
  const move = { "clusterctl.cluster.x-k8s.io/move-hierarchy": "" };
  const graph = graphOf(
    object(tenants, "o", { labels: move }),
    object(capiClusters, "o", { owners: [tenants] }),
    object(capiMachines, "m", { owners: [capiClusters] }),
    object(configMaps, "quota", { owners: [tenants] }),
  );
  expect(uids(graph)).toEqual(["0 Tenant/o (cluster-scoped)", "1 Cluster/o", "1 ConfigMap/quota (cluster-scoped)", "2 Machine/m"]);
});

test("an object that a moved Cluster owns and a class that stays needs is refused: one of both would lose it", () => {
  const objects = [
    object(classes, "o"),
    object(configMaps, "template", { owners: [classes, capiClusters] }),
    object(capiClusters, "o", { spec: topology }),
  ];
  const graph = buildGraph({ namespace: "a", objects, classesUsedElsewhere: new Set(CLASS_USED) });
  expect(uids(graph)).toContain("2 ConfigMap/template");
  expect(graph.problems).toEqual([
    "ConfigMap a/template is owned by Cluster o, which is moved, and is needed by what stays at the source; remove one of its owner references",
  ]);
});

test("whatever owns what, no Cluster of the namespace is kept, nor anything of the namespace that one owns", () => {
  const random = seededRandom(3);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] ?? expect.fail("nothing to choose from");
  const resources = [capiClusters, capiClusters, classes, identities, awsClusters, capiMachines, secrets, configMaps];
  for (let round = 0; round < 500; round += 1) {
    const world: DiscoveredObject<KubeObject>[] = [];
    for (let at = 0; at < 12; at += 1) {
      const resource = pick(resources);
      const owners = [0, 1].flatMap(() => (world.length > 0 && random() < 0.6 ? [pick(world).object] : []));
      const made = object(resource, `n${at}`, {
        ...(resource === capiClusters && random() < 0.7
          ? { spec: { topology: { classRef: { name: `n${Math.floor(random() * 12)}` } } } }
          : {}),
        ...(resource === awsClusters ? { spec: { identityRef: { kind: identities.kind, name: `n${Math.floor(random() * 12)}` } } } : {}),
        ...(random() < 0.1 ? { labels: { "clusterctl.cluster.x-k8s.io/move-hierarchy": "" } } : {}),
      });
      const ownerReferences = owners.map(({ apiVersion, kind, metadata: { name, uid = "" } }) => ({ apiVersion, kind, name, uid }));
      world.push({ ...made, object: { ...made.object, metadata: { ...made.object.metadata, ownerReferences } } });
    }
    const used = new Set(
      world.flatMap(({ object: { kind, metadata } }) => (kind === "ClusterClass" && random() < 0.5 ? [metadata.name] : [])),
    );
    const { moved } = buildGraph({ namespace: "a", objects: world, classesUsedElsewhere: used });
    const ofClusters = new Set<string>();
    // owners in any order: until nothing is added
    for (let before = -1; before < ofClusters.size;) {
      before = ofClusters.size;
      for (const {
        uid,
        object: { kind, metadata },
        owners,
      } of moved)
        if (metadata.namespace === "a" && (kind === "Cluster" || owners.some((owner) => ofClusters.has(owner)))) ofClusters.add(uid);
    }
    expect(moved.filter(({ uid, kept }) => kept !== undefined && ofClusters.has(uid)).map(({ uid }) => uid)).toEqual([]);
  }
});

test("ten thousand machines are ordered by their owners", () => {
  const machines = Array.from({ length: 10_000 }, (_, at) => object(capiMachines, `m${at}`, { owners: [capiClusters] }));
  const graph = graphOf(...machines, object(capiClusters, "o"));
  expect([graph.moved.length, graph.moved[0]?.uid, graph.moved.at(-1)?.level]).toEqual([10_001, "Cluster/o", 1]);
});
