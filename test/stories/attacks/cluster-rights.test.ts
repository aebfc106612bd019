/**
 * The rights of an operator as a cell, as an agent and as the manager of its own cluster: under the generated roles it makes a cell, children of every
 * provider and a child that connects, changes and deletes them; no request is denied, and every granted verb is used.
 */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, ok } from "#base";
import { reducedCapiCrds } from "#bundle";
import { clusterController, selfManagerController } from "#controllers";
import { latticeClusters } from "#crds";
import type { EmbeddedCluster, FixtureObject } from "#embedded-cluster";
import {
  apiVersionOf,
  awsMachineTemplates,
  azureClusterIdentities,
  capiClusters,
  capiMachineDeployments,
  ciliumL2AnnouncementPolicies,
  ciliumLoadBalancerIpPools,
  fieldAt,
  findCondition,
  groupResourceOf,
  kubeadmControlPlanes,
  parseYaml,
  secrets,
  services,
  type KubeObject,
} from "#kube";
import { rbacFor } from "#controller-runtime";
import type { TunnelTarget } from "#link";
import { clusterDeclarations, OPERATOR_NAME, OPERATOR_NAMESPACE, operatorRbac } from "#operator";
import { grantsOf, refusedRequests, requestedGrants } from "../../builders/attacks/grants.ts";
import { identity, localCluster } from "../../builders/cell-world.ts";
import { openCrd } from "../../builders/open-crd.ts";
import { OPERATOR_USER } from "../../builders/operated-cluster.ts";
import {
  applyManifests,
  bootstrapToken,
  decoded,
  freePorts,
  post,
  runOperator,
  startLatticeCluster,
  untilCluster,
  type RunningOperator,
} from "../../builders/two-clusters.ts";

/** Granted, but unused in a story without an election, a second event of a series, or admission plugins. */
const NOT_SEEN = [
  /^(create|get|update) leases\.coordination\.k8s\.io$/,
  /^patch events\.events\.k8s\.io$/,
  // a move: src/operator/cell/pivot/pivot-rights.test.ts
  / \*\.(([a-z]+\.)?cluster\.x-k8s\.io|infrastructure\.lattice\.dev|[a-z]+\.azure\.com)$/,
  /^(create|patch|delete) configmaps$/,
  /^delete (secrets|leases\.coordination\.k8s\.io)$/,
  /^list providers\.clusterctl\.cluster\.x-k8s\.io$/,
  /^(create|update) latticeclusters\.lattice\.dev$/,
  // the credential of Cluster API in a cluster that owns itself: src/controllers/cluster/own-kubeconfig.test.ts
  /^create serviceaccounts\/token$/,
  // admission checks it when blockOwnerDeletion is set; there is no request
  /^update configmaps\/finalizers$/,
];

/** The requests of Cluster API 1.14 in a child, with the function that sends them. */
const OF_CLUSTER_API: readonly (readonly [method: string, path: string, by: string])[] = [
  ["GET", "/", "clustercache: health probe"],
  ["GET", "/api/v1/nodes", "clustercache"],
  ["GET", "/api/v1/nodes?watch=true&timeoutSeconds=1", "clustercache"],
  ["GET", "/api/v1/nodes/a", "machine: reconcileNode"],
  ["PATCH", "/api/v1/nodes/a", "machine: patchNode; drain: CordonNode"],
  ["DELETE", "/api/v1/nodes/a", "machine: deleteNode"],
  ["GET", "/api/v1/namespaces", "drain: GetPodsForEviction, cached"],
  ["GET", "/api/v1/namespaces?watch=true&timeoutSeconds=1", "drain: GetPodsForEviction, cached"],
  ["GET", "/api/v1/pods", "drain: GetPodsForEviction"],
  ["GET", "/api/v1/namespaces/kube-system/pods?watch=true&timeoutSeconds=1", "kubeadm: static Pods, cached"],
  ["GET", "/api/v1/namespaces/kube-system/pods/a", "kubeadm: GetTransformedPod"],
  ["POST", "/api/v1/namespaces/default/pods/a/eviction", "drain: evictPod"],
  ["POST", "/api/v1/namespaces/kube-system/pods/a/portforward", "kubeadm: proxy to etcd, SPDY"],
  ["GET", "/api/v1/namespaces/kube-system/pods/a/portforward", "kubeadm: proxy to etcd, WebSocket"],
  ["GET", "/api/v1/namespaces/kube-system/configmaps/a", "kubeadm: getConfigMap"],
  ["PUT", "/api/v1/namespaces/kube-system/configmaps/a", "kubeadm: updateClusterConfiguration, updateCoreDNSCorefile"],
  ["GET", "/api/v1/namespaces/kube-system/secrets/a", "kubeadm bootstrap: getToken"],
  ["POST", "/api/v1/namespaces/kube-system/secrets", "kubeadm bootstrap: createToken"],
  ["PUT", "/api/v1/namespaces/kube-system/secrets/a", "kubeadm bootstrap: refreshBootstrapTokenIfNeeded"],
  ["GET", "/apis/apps/v1/namespaces/kube-system/daemonsets/a", "kubeadm: UpdateKubeProxyImageInfo; drain: daemonSetDeleteFilter"],
  ["PATCH", "/apis/apps/v1/namespaces/kube-system/daemonsets/a", "kubeadm: UpdateKubeProxyImageInfo"],
  ["GET", "/apis/apps/v1/namespaces/kube-system/deployments/a", "kubeadm: getCoreDNSInfo"],
  ["PATCH", "/apis/apps/v1/namespaces/kube-system/deployments/a", "kubeadm: updateCoreDNSDeployment"],
  ["GET", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "kubeadm: EnsureKubeadmPermissions, cached"],
  [
    "GET",
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings?watch=true&timeoutSeconds=1",
    "kubeadm: EnsureKubeadmPermissions, cached",
  ],
  ["GET", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/a", "kubeadm: EnsureKubeadmPermissions"],
  ["GET", "/api/v1/persistentvolumes", "machine: getPersistentVolumesWaitingForDetach"],
  ["GET", "/apis/storage.k8s.io/v1/volumeattachments", "machine: getVolumeAttachmentForNode"],
];

const WITHIN = { timeoutMs: 30_000 };
const EXAMPLES = join(import.meta.dirname, "../../../examples/clusters");
let cell: EmbeddedCluster;
let child: EmbeddedCluster | undefined;
const running: RunningOperator[] = [];

/** Of all kinds that the controllers of clusters may need, those that are not installed. */
function openKinds(): readonly FixtureObject[] {
  const installed = new Set(reducedCapiCrds().map(({ metadata }) => metadata.name));
  const kinds = [...(clusterController.optional ?? []), ...(selfManagerController.optional ?? [])];
  return kinds.filter((kind) => !installed.has(groupResourceOf(kind))).map(openCrd);
}

const asOperator = (cluster: EmbeddedCluster) => ({ client: cluster.clientFor(OPERATOR_USER) });

async function applyAll(cluster: EmbeddedCluster, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects)
    expectOk(
      await cluster.client.apply(cluster.resource(object.kind, object.apiVersion), object, { fieldManager: "kubectl", force: true }),
    );
}

const patchCluster = async (name: string, spec: object) =>
  expectOk(await cell.client.patch(latticeClusters, { name }, { type: "merge", patch: { spec } as never }));

beforeAll(async () => {
  cell = await startLatticeCluster();
  await cell.add(...reducedCapiCrds(), ...openKinds());
  await applyAll(cell, operatorRbac());
  running.push(await runOperator(cell, asOperator(cell)));
}, 60_000);

afterAll(async () => {
  for (const operator of running) await operator.stop();
  await child?.close();
  await cell.close();
}, 60_000);

/** A cell on Docker, whose nodes announce its addresses. */
async function becomeCell(): Promise<readonly number[]> {
  const ports = await freePorts(3);
  const [grpcPort, bootstrapPort, proxyPort] = ports;
  const endpoints = { host: "127.0.0.1", grpcPort, bootstrapPort, proxyPort, service: { type: "ClusterIP" } };
  const provider = { type: "docker", kubernetes: { version: "1.36.3" }, docker: { image: "kindest/node:v1.36.3" } };
  await cell.add(identity("mgmt"), localCluster("mgmt", { provider, endpoints, networking: { default: { cidr: "172.18.255.0/28" } } }));
  await cell.waitFor(services, { namespace: OPERATOR_NAMESPACE, name: "lattice-cell" }, (found) => found !== undefined, WITHIN);
  for (const pool of [ciliumLoadBalancerIpPools, ciliumL2AnnouncementPolicies])
    await cell.waitFor(pool, { name: "lattice-default" }, (found) => found !== undefined, WITHIN);
  return ports;
}

async function addExamples(): Promise<void> {
  const key = { AccessKeyID: "", SecretAccessKey: "", credentials: "" };
  for (const [namespace, name] of [
    ["capa-system", "aws-production"],
    [OPERATOR_NAMESPACE, "gcp-analytics"],
  ] as const) {
    if (namespace !== OPERATOR_NAMESPACE) await cell.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await cell.add({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, data: key });
  }
  const metadata = { name: "office", namespace: OPERATOR_NAMESPACE };
  const allowing = { allowedNamespaces: {} };
  await cell.add({ apiVersion: apiVersionOf(azureClusterIdentities), kind: azureClusterIdentities.kind, metadata, spec: allowing });
  for (const file of ["docker", "aws", "gcp", "azure"]) {
    const [example] = expectOk(parseYaml(readFileSync(join(EXAMPLES, `${file}.yaml`), "utf8")));
    await cell.add(example as unknown as FixtureObject);
  }
  for (const name of ["cell", "production", "analytics", "office"])
    await cell.waitFor(
      kubeadmControlPlanes,
      { namespace: `capi-${name}`, name: `${name}-control-plane` },
      (found) => found !== undefined,
      WITHIN,
    );
}

/** Registers a child as its first node does, and starts its operator under the roles that it got. Returns the kubeconfig for Cluster API. */
async function connectChild([, bootstrapPort]: readonly number[]): Promise<string> {
  await cell.add(localCluster("leaf"));
  const token = await bootstrapToken(cell, "leaf");
  const key = { namespace: "capi-leaf", name: "leaf-kubeconfig" };
  const secret = await cell.waitFor<KubeObject>(secrets, key, (found) => found !== undefined, WITHIN);
  const kubeconfig = decoded(fieldAt(secret, "data", "value"));
  const ca = decoded(/certificate-authority-data: (\S+)/.exec(kubeconfig)?.[1]);
  const answer = await post(`https://127.0.0.1:${bootstrapPort}/api/clusters/register`, ca, { token });
  child = await startLatticeCluster();
  await applyManifests(child, answer.text);
  running.push(await runOperator(child, { ...asOperator(child), apiServer: ok(await apiServerOf(child)) }));
  await untilCluster(cell, "leaf", ({ status }) => findCondition(status?.conditions, "AgentConnected")?.status === "True");
  return kubeconfig;
}

/** With the token of the operator's ServiceAccount. */
async function apiServerOf(cluster: EmbeddedCluster): Promise<TunnelTarget> {
  const account = `/api/v1/namespaces/${OPERATOR_NAMESPACE}/serviceaccounts/${OPERATOR_NAME}/token`;
  const { body } = await cluster.request("POST", account, { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} });
  const { url, certificateAuthority: ca = "" } = await cluster.listen();
  const token = fieldAt(body, "status", "token");
  if (typeof token !== "string") throw new Error("the response has no token");
  return { url, ca, authorization: () => Promise.resolve(`Bearer ${token}`) };
}

/** Through the cell, the agent's connection and the operator's credential, as Cluster API on the cell does it. */
async function statusOf(kubeconfig: string, method: string, path: string): Promise<number> {
  const ca = decoded(/certificate-authority-data: (\S+)/.exec(kubeconfig)?.[1]);
  const server = /server: (\S+)/.exec(kubeconfig)?.[1] ?? "";
  const authorization = `Bearer ${/token: "?([^"\s]+)/.exec(kubeconfig)?.[1] ?? ""}`;
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  return new Promise((resolve, reject) => {
    const options = { method, ca, agent: false, headers: { authorization, "content-type": type } };
    const sent = request(`${server}${path}`, options, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject);
    sent.end(method === "GET" || method === "DELETE" ? undefined : "{}");
  });
}

async function refusedByTheChild(kubeconfig: string): Promise<readonly string[]> {
  const refused: string[] = [];
  for (const [method, path, by] of OF_CLUSTER_API) {
    const status = await statusOf(kubeconfig, method, path);
    if ([401, 403, 502, 503, 504].includes(status)) refused.push(`${status} for ${method} ${path} of ${by}`);
  }
  return refused;
}

/** Another template, and a pool less. */
async function change(): Promise<void> {
  const before = expectOk(await cell.client.list<KubeObject>(awsMachineTemplates, { namespace: "capi-production" })).items.map(
    ({ metadata }) => metadata.name,
  );
  await patchCluster("production", {
    provider: { aws: { workers: { instanceType: "m6i.2xlarge" } } },
    nodes: { workerPools: { batch: null } },
  });
  const batch = { namespace: "capi-production", name: "production-batch" };
  await cell.waitFor(capiMachineDeployments, batch, (found) => found === undefined, WITHIN);
  await expect
    .poll(
      async () => {
        const now = expectOk(await cell.client.list<KubeObject>(awsMachineTemplates, { namespace: "capi-production" })).items;
        return before.filter((name) => now.every(({ metadata }) => metadata.name !== name)).length;
      },
      { timeout: 30_000 },
    )
    .toBeGreaterThan(0);
}

async function end(): Promise<void> {
  for (const name of ["leaf", "cell", "production", "analytics", "office"]) {
    expectOk(await cell.client.delete(latticeClusters, { name }));
    await cell.waitFor(latticeClusters, { name }, (found) => found === undefined, WITHIN);
    await cell.waitFor(capiClusters, { namespace: `capi-${name}`, name }, (found) => found === undefined, WITHIN);
  }
  await patchCluster("mgmt", { endpoints: null, networking: null });
  await cell.waitFor(services, { namespace: OPERATOR_NAMESPACE, name: "lattice-cell" }, (found) => found === undefined, WITHIN);
  for (const pool of [ciliumLoadBalancerIpPools, ciliumL2AnnouncementPolicies])
    await cell.waitFor(pool, { name: "lattice-default" }, (found) => found === undefined, WITHIN);
}

test("no request of a cell or of an agent is denied, and every granted verb is used", { timeout: 240_000 }, async () => {
  const ports = await becomeCell();
  await addExamples();
  const kubeconfig = await connectChild(ports);
  expect(await refusedByTheChild(kubeconfig)).toEqual([]);
  await change();
  await end();
  const clusters = child === undefined ? [cell] : [cell, child];
  expect(clusters.map((cluster) => refusedRequests(cluster, OPERATOR_USER))).toEqual([[], []]);
  const requested = (where: (namespace: string | undefined) => boolean) =>
    new Set(clusters.flatMap((cluster) => [...requestedGrants(cluster, OPERATOR_USER, where)]));
  const [atHome, elsewhere] = [
    requested((namespace) => namespace === OPERATOR_NAMESPACE),
    requested((namespace) => namespace !== OPERATOR_NAMESPACE),
  ];
  const roles = rbacFor(clusterDeclarations, { name: OPERATOR_NAME, namespace: OPERATOR_NAMESPACE });
  const ofHome = grantsOf(roles.filter(({ kind }) => kind === "Role"));
  const ofCluster = grantsOf(roles.filter(({ kind }) => kind === "ClusterRole"));
  const unused = [
    ...[...ofHome].filter((grant) => !atHome.has(grant)),
    // what the Role grants in the operator's own namespace is no use of the ClusterRole
    ...[...ofCluster].filter((grant) => !elsewhere.has(grant) && (!atHome.has(grant) || ofHome.has(grant))),
  ];
  expect(unused.filter((grant) => !NOT_SEEN.some((pattern) => pattern.test(grant))).toSorted()).toEqual([]);
});
