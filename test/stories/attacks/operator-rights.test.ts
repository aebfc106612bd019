/**
 * What an attacker with the operator's ServiceAccount can do: exactly what the generated roles grant. The operator handles a whole life cycle of
 * services under them, RBAC denies nothing that it needs, and it uses every granted verb.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk, seededRandom, sensitive, systemClock, type Result } from "#base";
import { resources } from "#embedded-cluster";
import { apiVersionOf, fieldAt, parseKey, type KubeObject, type Resource } from "#kube";
import { rbacFor } from "#controller-runtime";
import { createKubeClient, httpTransport, parseServerUrl, staticCredentials, type KubeClient, type KubeError } from "#kube-client";
import { reducedMeshCrds } from "#controllers";
import { latticeEnvironments, latticeExternalServices, latticeKinds, latticeServices } from "#crds";
import { clusterDeclarations, OPERATOR_NAME, OPERATOR_NAMESPACE, operatorRbac } from "#operator";
import {
  calls,
  environment,
  externalService,
  isCalledBy,
  latticeService,
  secret,
  secretBindings,
  serviceConfig,
  withVariables,
} from "../../builders/lattice-objects.ts";
import { TOKEN } from "../../builders/api-server/server-process.ts";
import { grantsOf, refusedRequests, requestedGrants } from "../../builders/attacks/grants.ts";
import { startMeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";
import { MeasuredProcess } from "../../builders/attacks/measured-process.ts";
import { OPERATOR_USER, OperatedCluster } from "../../builders/operated-cluster.ts";

const API = (spec: Readonly<Record<string, unknown>>) =>
  latticeService("team/api", {
    environment: "shop",
    ...withVariables({ A: "b", PASSWORD: "${resources.db.password}", TOKEN: "${secrets.vault.token}" }),
    resources: {
      ...isCalledBy("front"),
      stripe: { type: "external-service", direction: "outbound" },
      db: { type: "postgres" },
      data: { type: "volume", params: { size: "1Gi" } },
      web: { type: "route", params: { host: "api.shop.example.com" } },
    },
    ...spec,
  });

/**
 * Creates a service with every kind of object, changes it, deletes some of its objects, and deletes it. Defined in namespace `team`, it runs in
 * `shop`: without owner references the operator deletes all objects itself.
 */
async function lifeCycle(operated: OperatedCluster): Promise<void> {
  const store = { storeRef: { kind: "ClusterSecretStore", name: "vault" }, key: "kv/app" };
  const isolation = { quota: { pods: 20 }, limits: { cpu: "1" } };
  const granted = {
    sourceNamespaces: ["team"],
    ingressDomain: "shop.example.com",
    defaults: { secretBindings: [{ name: "vault", external: store }] },
  };
  await operated.apply(
    secret("shop/postgres-db", { password: "hunter2" }, "team"),
    environment("shop", { ...granted, isolation }),
    secretBindings("team/all", { bindings: { db: { secretRef: { name: "postgres-db" } } } }),
    serviceConfig("team/all", { appliesTo: { service: "api" }, values: { level: "info" } }),
    externalService("team/stripe", { environment: "shop", endpoints: { api: "https://api.stripe.com" }, allowedRequesters: ["api"] }),
    API({ replicas: { min: 2, max: 4 }, deploy: { strategy: "canary" } }),
    latticeService("team/front", { environment: "shop", resources: calls("api") }),
  );
  await operated.live(10_000, 500);
  // the Secret is no longer needed: ReplicaSets are listed before it is pruned
  await operated.apply(API({ replicas: { min: 2, max: 4 }, ...withVariables({ A: "b" }) }), environment("shop", granted));
  await operated.live(70_000, 5_000);
}

async function end(operated: OperatedCluster): Promise<void> {
  await operated.remove(latticeServices, "team/api");
  await operated.remove(latticeServices, "team/front");
  await operated.remove(latticeExternalServices, "team/stripe");
  await operated.live(5_000, 500);
  await operated.remove(latticeEnvironments, "shop");
  await operated.live(5_000, 500);
}

/** Granted, but unused in a story without races, an election or admission plugins. What controllers of clusters need is not used here either. */
const NOT_SEEN = [
  /^(create|get|update) leases\.coordination\.k8s\.io$/,
  // admission checks it when blockOwnerDeletion is set; there is no request
  /^update (latticeservices|latticeexternalservices|latticeenvironments)\.lattice\.dev\/finalizers$/,
  /^update namespaces\/finalizers$/,
  // after a conflict, before the status is written again
  /^get lattice[a-z]+\.lattice\.dev$/,
  // kinds of which the story has no object
  /^update lattice(clusters|imageregistries|serviceregistrations)\.lattice\.dev\/status$/,
  // the label of the leader: the operator of this story does not run in a Pod
  /^patch pods$/,
  // the admission webhook, with its certificate: src/operator/admission/webhook-rights.test.ts
  /^[a-z]+ mutatingwebhookconfigurations\.admissionregistration\.k8s\.io$/,
  /^update secrets$/,
  // a second event of the same series
  /^patch events\.events\.k8s\.io$/,
];

test(
  "under the cluster-wide roles no request of the operator is denied, and every granted verb is used",
  { timeout: 120_000 },
  async () => {
    await using operated = await OperatedCluster.start({ rbac: true });
    await lifeCycle(operated);
    for (const key of ["team/api", "team/front"]) expect((await operated.service(key)).status).toMatchObject({ phase: "Ready" });
    await end(operated);
    expect(await operated.names("Deployment", "shop")).toEqual([]);
    expect(refusedRequests(operated.cluster, operated.user)).toEqual([]);
    const used = requestedGrants(operated.cluster, operated.user);
    const ofClusters = grantsOf(rbacFor(clusterDeclarations, { name: OPERATOR_NAME, namespace: OPERATOR_NAMESPACE }));
    const isExpected = (grant: string) => used.has(grant) || ofClusters.has(grant) || NOT_SEEN.some((pattern) => pattern.test(grant));
    const unused = [...grantsOf(operatorRbac())].filter((grant) => !isExpected(grant));
    expect(unused.toSorted()).toEqual([]);
  },
);

function expectText(value: unknown): string {
  if (typeof value !== "string") throw new Error("the response has no token");
  return value;
}

const namespaceObject = (name: string): KubeObject => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const kubeSystemSecret: KubeObject = { apiVersion: "v1", kind: "Secret", metadata: { name: "x", namespace: "kube-system" } };
const SOME = ["team", "shop"];

const adminTransport = (url: string) =>
  httpTransport(
    { server: expectOk(parseServerUrl(url)), credentials: staticCredentials({ token: sensitive(TOKEN) }) },
    { clock: systemClock },
  );

const kubeconfigText = (url: string, token: string) =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: url } }],
    users: [{ name: "u", user: { token } }],
  });

/** Kinds of the objects that the story applies. */
function resourceOf({ apiVersion, kind }: KubeObject): Resource {
  const known = [...Object.values(resources), latticeServices];
  const found = known.find((resource) => resource.kind === kind && apiVersionOf(resource) === apiVersion);
  if (found === undefined) throw new Error(`the story has no kind ${apiVersion} ${kind}`);
  return found;
}

async function eventuallyReady(client: KubeClient, key: string): Promise<void> {
  for (;;) {
    const { status } = expectOk(await client.get(latticeServices, parseKey(key)));
    if (status?.phase === "Ready") return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test(
  "under Roles in two namespaces no request of the operator is denied, and every granted verb is used",
  { timeout: 120_000 },
  async () => {
    await using operated = await OperatedCluster.start({ rbac: true, namespaces: SOME });
    await lifeCycle(operated);
    for (const key of ["team/api", "team/front"]) expect((await operated.service(key)).status).toMatchObject({ phase: "Ready" });
    expect(await operated.read("LatticeEnvironment", "shop")).toMatchObject({ status: { phase: "Ready" } });
    await end(operated);
    expect(await operated.names("Deployment", "shop")).toEqual([]);
    expect(refusedRequests(operated.cluster, operated.user)).toEqual([]);
    const used = requestedGrants(operated.cluster, operated.user);
    const granted = grantsOf(operatorRbac(OPERATOR_NAMESPACE, SOME));
    const unused = [...granted].filter((grant) => !used.has(grant) && !NOT_SEEN.some((pattern) => pattern.test(grant)));
    expect(unused.toSorted()).toEqual([]);
  },
);

describe("with the token of an operator for two namespaces", () => {
  let operated: OperatedCluster;
  let attacker: KubeClient;
  let url: string;
  let token: string;

  beforeAll(async () => {
    operated = await OperatedCluster.start({
      rbac: true,
      namespaces: SOME,
      objects: [secret("payroll/salaries", { ceo: "much" }), secret("shop/postgres-db", { password: "hunter2" })],
    });
    const account = `/api/v1/namespaces/${OPERATOR_NAMESPACE}/serviceaccounts/${OPERATOR_NAME}/token`;
    const { body } = await operated.cluster.request("POST", account, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {},
    });
    token = expectText(fieldAt(body, "status", "token"));
    ({ url } = await operated.cluster.listen({ http: true }));
    const credentials = staticCredentials({ token: sensitive(token) });
    const transport = httpTransport({ server: expectOk(parseServerUrl(url)), credentials }, { clock: systemClock });
    attacker = createKubeClient({ transport, clock: systemClock, random: seededRandom(1) });
  }, 60_000);

  afterAll(async () => {
    await attacker.close();
    await operated[Symbol.asyncDispose]();
  });

  const { secrets, namespaces, deployments } = resources;
  const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "miner", namespace: "payroll" } };
  const rows: readonly { readonly name: string; readonly attempt: () => Promise<Result<unknown, KubeError>> }[] = [
    {
      name: "a Secret of another namespace cannot be read",
      attempt: () => attacker.get(secrets, { namespace: "payroll", name: "salaries" }),
    },
    { name: "Secrets of another namespace cannot be listed", attempt: () => attacker.list(secrets, { namespace: "payroll" }) },
    { name: "Secrets of all namespaces cannot be listed", attempt: () => attacker.list(secrets) },
    { name: "a Secret of kube-system cannot be created", attempt: () => attacker.create(secrets, kubeSystemSecret) },
    { name: "a Deployment in another namespace cannot be created", attempt: () => attacker.create(deployments, deployment) },
    { name: "Namespaces cannot be listed", attempt: () => attacker.list(namespaces) },
    { name: "a Namespace cannot be created", attempt: () => attacker.create(namespaces, namespaceObject("mine")) },
    {
      name: "another Namespace cannot be labelled",
      attempt: () => attacker.apply(namespaces, namespaceObject("payroll"), { fieldManager: "x" }),
    },
    { name: "its own Namespaces cannot be deleted", attempt: () => attacker.delete(namespaces, { name: "shop" }) },
    {
      name: "another Secret of the operator's own namespace cannot be read",
      attempt: () => attacker.get(secrets, { namespace: OPERATOR_NAMESPACE, name: "other" }),
    },
  ];
  test.each(rows)("$name", async ({ attempt }) => {
    expect(await attempt()).toMatchObject({ ok: false, error: { kind: "forbidden", code: 403 } });
  });

  test("SelfSubjectAccessReview agrees, and allows the operator's own namespaces", async () => {
    const may = async (namespace: string) => {
      const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview" };
      const body = JSON.stringify({ ...review, spec: { resourceAttributes: { verb: "get", resource: "secrets", namespace } } });
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const answer = await fetch(`${url}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`, { method: "POST", headers, body });
      return fieldAt(await answer.json(), "status", "allowed");
    };
    expect([await may("shop"), await may("payroll"), await may("")]).toEqual([true, false, false]);
    expect(await attacker.get(secrets, { namespace: "shop", name: "postgres-db" })).toMatchObject({ ok: true });
  });
});

test(
  "an operator process without its Roles keeps running, logs each denial once, and works when they are granted",
  { timeout: 60_000 },
  async () => {
    const secretToken = "operator-token";
    const groups = `"system:serviceaccounts,system:authenticated"`;
    await using server = await startMeasuredApiServer({ tokens: [`${secretToken},${OPERATOR_USER.name},op,${groups}`] });
    const cluster = createKubeClient({ transport: adminTransport(server.url), clock: systemClock, random: seededRandom(1) });
    const crds = [...latticeKinds.map(({ crd }) => crd()), ...reducedMeshCrds()];
    const put = async (...objects: readonly KubeObject[]) => {
      for (const object of objects) expectOk(await cluster.apply(resourceOf(object), object, { fieldManager: "kubectl", force: true }));
    };
    await put(...crds, ...[OPERATOR_NAMESPACE, ...SOME].map(namespaceObject));
    await put(...operatorRbac(OPERATOR_NAMESPACE, ["team"]), latticeService("team/own") as KubeObject);
    const config = join(server.home, "operator");
    await writeFile(config, kubeconfigText(server.url, secretToken), { mode: 0o600 });
    await using operator = new MeasuredProcess(["operator", "--kubeconfig", config, "--namespaces", SOME.join(",")]);
    await operator.untilPrinted(/health and metrics at/);
    await operator.reset();
    await eventuallyReady(cluster, "team/own");
    const refusals = () => operator.stderr.split("\n").filter((line) => /warn .*forbidden/.test(line));
    const kinds = new Set(refusals().map((line) => /resource=(\S+)/.exec(line)?.[1]));
    expect(kinds.size).toBeGreaterThan(10);
    expect(refusals().length).toBe(kinds.size);
    await put(...operatorRbac(OPERATOR_NAMESPACE, SOME), latticeService("shop/late") as KubeObject);
    await eventuallyReady(cluster, "shop/late");
    expect(refusals().length).toBe(kinds.size);
    await operator.expectWithinLimits("an operator without its Roles");
    await cluster.close();
  },
);
