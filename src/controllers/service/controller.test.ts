/** A LatticeService on a cluster, as its owner sees it. */
import { describe, expect, test } from "vitest";
import { latticeServices } from "#crds";
import { fieldAt } from "#kube";
import { calls, environment, isCalledBy, latticeService, secret, withVariables } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

const READY = { type: "Ready", status: "True", reason: "Compiled", message: "All resources compiled and applied" };

/** What was applied for a service, without the namespace's own. */
function applied(writes: readonly string[], key: string): readonly string[] {
  const [namespace = "", name = ""] = key.split("/");
  return writes
    .filter((line) => line.startsWith("apply ") && !line.includes("lattice-default-deny"))
    .map((line) => line.slice("apply ".length))
    .filter((line) => new RegExp(` ${namespace}/${name}(-|$)`).test(line));
}

describe("seed 001, phase 6", () => {
  test("E2E: Service with templates deploys with ConfigMaps", async () => {
    const spec = withVariables({ LOG_LEVEL: "info", SERVICE_NAME: "${metadata.name}" });
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", spec)] });
    expect(await operated.read("ConfigMap", "shop/api-env")).toMatchObject({ data: { LOG_LEVEL: "info", SERVICE_NAME: "api" } });
    const deployment = await operated.read("Deployment", "shop/api");
    const container = fieldAt(deployment, "spec", "template", "spec", "containers", "0");
    expect(container).toMatchObject({ envFrom: [{ configMapRef: { name: "api-env" } }] });
    expect(deployment).toMatchObject({ status: { availableReplicas: 1 } });
    expect((await operated.service("shop/api")).status).toMatchObject({
      phase: "Ready",
      mode: "Ownership",
      message: "1 of 1 pods are ready",
    });
  });

  test("E2E: Resolved dependencies appear in status, never with a secret in them", async () => {
    const resources = {
      backend: {},
      db: { type: "postgres", id: "main-db" },
      cache: { type: "redis", params: { auth: true } },
    };
    const variables = { URL: "${resources.db.connection_string}", CACHE: "${resources.cache.url_with_auth}" };
    await using operated = await OperatedCluster.start({
      objects: [
        secret("shop/postgres-main-db", { password: "hunter22" }),
        secret("shop/redis-cache", { password: "hunter33" }),
        latticeService("shop/backend", { resources: isCalledBy("api") }),
        latticeService("shop/api", { ...withVariables(variables), resources }),
      ],
    });
    const { status } = await operated.service("shop/api");
    expect(status?.resolvedDependencies).toEqual({
      backend: "http://backend.shop.svc.cluster.local:8080",
      cache: "redis://cache-redis.shop.svc.cluster.local:6379",
      db: "postgresql://main-db-postgres.shop.svc.cluster.local:5432/main-db",
    });
    expect(JSON.stringify(status)).not.toContain("hunter");
  });

  test("E2E: Resources applied in correct order", async () => {
    const service = latticeService("shop/api", {
      containers: {
        main: {
          image: "a:1",
          variables: { A: "b", P: "${resources.db.password}" },
          files: { "/etc/a": { content: "text" } },
          volumes: { "/data": { source: "${resources.data.ref}" } },
        },
      },
      resources: {
        db: { type: "postgres" },
        data: { type: "volume", params: { size: "1Gi" } },
        web: { type: "route" },
        ...isCalledBy("front"),
      },
      replicas: { min: 2, max: 3 },
      deploy: { strategy: "canary" },
    });
    await using operated = await OperatedCluster.start({
      settings: { ingressDomain: "example.com" },
      objects: [secret("shop/postgres-db", { password: "p" }), latticeService("shop/front", { resources: calls("api") }), service],
    });
    const order = operated.writes();
    const closed = Math.max(...order.flatMap((line, at) => (/default-deny|apply namespaces shop/.test(line) ? [at] : [])));
    expect(order.findIndex((line) => / shop\/api(-|$)/.test(line) && line.startsWith("apply "))).toBeGreaterThan(closed);
    const kinds = applied(order, "shop/api").map((line) => line.split(" ")[0]);
    expect([...new Set(kinds)]).toEqual([
      "configmaps",
      "secrets",
      "serviceaccounts",
      "deployments.apps",
      "services",
      "horizontalpodautoscalers.autoscaling",
      "poddisruptionbudgets.policy",
      "canaries.flagger.app",
      "httproutes.gateway.networking.k8s.io",
      "authorizationpolicies.security.istio.io",
      "ciliumnetworkpolicies.cilium.io",
    ]);
    const claim = order.indexOf("apply persistentvolumeclaims shop/data");
    expect(claim).toBeGreaterThan(order.indexOf("apply secrets shop/api-secrets"));
    expect(claim).toBeLessThan(order.indexOf("apply serviceaccounts shop/api"));
  });

  test("E2E: Failed compilation updates status with every error, its place and its fix, and leaves what runs alone", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", withVariables({ A: "fine" }))] });
    const before = await operated.read("Deployment", "shop/api");
    const broken = withVariables({ A: "${resources.db.password}", PASSWORD: "${config.nope}", C: "${metadata.nmae}" });
    await operated.apply(latticeService("shop/api", { ...broken, resources: { db: { type: "postgres" } } }));
    await operated.live(1_000);
    const { status } = await operated.service("shop/api");
    expect(status).toMatchObject({ phase: "Failed", observedGeneration: 2 });
    const message = status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";
    expect(message).toContain("template error in container 'main' variable 'PASSWORD': ");
    expect(message).toContain("(at spec.containers.main.variables.PASSWORD)");
    expect(message).toContain("template error in container 'main' variable 'C': ");
    expect(message).toContain("make Secret postgres-db in namespace shop with a key 'password'");
    expect(message).not.toContain("redacted");
    expect(status?.conditions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: "TemplatesResolved", status: "False", reason: "TemplateError" }),
        expect.objectContaining({ type: "ConfigCompiled", status: "False", reason: "CompileError" }),
        expect.objectContaining({ type: "WorkloadsReady", status: "True", reason: "RolloutComplete" }),
        expect.objectContaining({ type: "PoliciesApplied", status: "True" }),
        expect.objectContaining({ type: "Ready", status: "False", reason: "CompileError" }),
      ]),
    );
    expect((await operated.read("Deployment", "shop/api"))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
    const told = (await operated.events()).filter(({ regarding, type }) => regarding["name"] === "api" && type === "Warning");
    expect(told).toMatchObject([{ reason: "CompileError" }]);

    await operated.apply(secret("shop/postgres-db", { password: "p" }), latticeService("shop/api", withVariables({ A: "mended" })));
    await operated.live(1_000);
    expect(await operated.condition("shop/api", "Ready")).toMatchObject(READY);
  });
});

describe("seed 001, phase 8: conditions", () => {
  test("TemplatesResolved, ConfigCompiled, WorkloadsReady, PoliciesApplied and Ready, with their reasons and words", async () => {
    const variables = { HOST: "${resources.db.host}", PASSWORD: "${resources.db.password}", NAME: "${metadata.name}", PLAIN: "x" };
    const files = { "/etc/app.yaml": { content: "host: ${resources.db.host}" } };
    const spec = {
      containers: { main: { image: "a:1", variables, files } },
      resources: { db: { type: "postgres" } },
      replicas: { min: 2 },
    };
    await using operated = await OperatedCluster.start({
      objects: [secret("shop/postgres-db", { password: "p" }), latticeService("shop/api", spec)],
    });
    const conditions = (await operated.service("shop/api")).status?.conditions;
    const said = conditions?.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`);
    expect(said).toEqual(
      expect.arrayContaining([
        "TemplatesResolved=True Resolved: Resolved 4 template variables",
        "ConfigCompiled=True Compiled: Generated 2 ConfigMaps, 1 Secrets",
        "WorkloadsReady=True RolloutComplete: 2 of 2 pods are ready",
        "PoliciesApplied=True Applied: Applied 1 policy",
        "Ready=True Compiled: All resources compiled and applied",
      ]),
    );
    expect(conditions?.every(({ observedGeneration }) => observedGeneration === 1)).toBe(true);
  });

  test("a service that was never compiled says so in every condition, so that nobody waits for one that never comes", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", withVariables({ A: "${config.nope}" }))] });
    expect(await operated.condition("shop/api", "WorkloadsReady")).toMatchObject({ status: "Unknown", reason: "NotCompiled" });
    expect(await operated.condition("shop/api", "PoliciesApplied")).toMatchObject({ status: "Unknown", reason: "NotCompiled" });
    expect(await operated.read("Deployment", "shop/api")).toBeUndefined();
  });

  test("WorkloadsReady follows the real rollout, and a rollout that does not get on is a failure with the Deployment's own words", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", { replicas: { min: 2 } })] });
    operated.cluster.simulation.faults.add({ kind: "image-pull", on: { image: "*:broken" } });
    await operated.apply(latticeService("shop/api", { replicas: { min: 2 }, containers: { main: { image: "app:broken" } } }));
    await operated.live(2_000);
    expect(await operated.condition("shop/api", "WorkloadsReady")).toMatchObject({ status: "False", reason: "RollingOut" });
    expect(await operated.condition("shop/api", "Ready")).toMatchObject(READY);
    await operated.live(660_000, 30_000);
    expect(await operated.condition("shop/api", "WorkloadsReady")).toMatchObject({
      status: "False",
      reason: "ProgressDeadlineExceeded",
      message: expect.stringMatching(/^ReplicaSet "api-[a-z0-9]+" has timed out progressing\.$/) as string,
    });
    const { status } = await operated.service("shop/api");
    expect(status).toMatchObject({ phase: "Failed", message: expect.stringContaining("timed out progressing") as string });
    expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "False", reason: "ProgressDeadlineExceeded" });

    await operated.apply(latticeService("shop/api", { replicas: { min: 2 }, containers: { main: { image: "app:mended" } } }));
    await operated.live(3_000);
    expect(await operated.condition("shop/api", "Ready")).toMatchObject(READY);
  });
});

describe("a settled service", () => {
  test("is silent: no writes, and compiledAt stands still, also over a restart of the operator", async () => {
    const spec = {
      ...withVariables({ A: "b", P: "${resources.db.password}" }),
      resources: { db: { type: "postgres" } },
      replicas: { min: 1, max: 3 },
    };
    await using operated = await OperatedCluster.start({
      objects: [environment("shop"), secret("shop/postgres-db", { password: "p" }), latticeService("shop/api", spec)],
    });
    await operated.live(5_000);
    const { compiledAt } = (await operated.service("shop/api")).status ?? {};
    const quiet = operated.writes().length;
    await operated.live(300_000, 10_000);
    expect(operated.writes().slice(quiet)).toEqual([]);
    await operated.stopOperator();
    await operated.live(10_000, 1_000);
    operated.startOperator();
    await operated.live(70_000, 5_000);
    expect(operated.writes().slice(quiet)).toEqual([]);
    expect(compiledAt).toBeDefined();

    await operated.remove(operated.cluster.resource("ConfigMap"), "shop/api-env");
    await operated.live(2_000);
    expect(await operated.read("ConfigMap", "shop/api-env")).toBeDefined();
    expect((await operated.service("shop/api")).status?.compiledAt).toBe(compiledAt);
    await operated.apply(latticeService("shop/api", { ...spec, ...withVariables({ A: "changed" }) }));
    await operated.live(2_000);
    const later = (await operated.service("shop/api")).status?.compiledAt ?? "";
    expect(later > (compiledAt ?? "")).toBe(true);
  });

  test("prunes what is no longer compiled, and never what a person owns", async () => {
    const files = { "/etc/a": { content: "x" } };
    await using operated = await OperatedCluster.start({
      objects: [latticeService("shop/api", { containers: { main: { image: "a:1", files } }, replicas: { min: 2, max: 4 } })],
    });
    await operated.apply({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "api-notes", namespace: "shop" },
      data: { mine: "yes" },
    });
    expect(await operated.names("HorizontalPodAutoscaler", "shop")).toEqual(["api"]);
    await operated.apply(latticeService("shop/api", { containers: { main: { image: "a:1" } } }));
    await operated.live(2_000);
    expect(await operated.names("HorizontalPodAutoscaler", "shop")).toEqual([]);
    expect(await operated.names("PodDisruptionBudget", "shop")).toEqual([]);
    expect(await operated.names("ConfigMap", "shop")).toEqual(["api-notes", "kube-root-ca.crt"]);
  });

  test("an object that a person made under the same name is named, not taken", async () => {
    const mine = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "api-env", namespace: "shop" }, data: { mine: "yes" } };
    await using operated = await OperatedCluster.start({ objects: [mine, latticeService("shop/api", withVariables({ A: "b" }))] });
    const { status } = await operated.service("shop/api");
    expect(status).toMatchObject({
      phase: "Failed",
      message: expect.stringContaining("ConfigMap shop/api-env: it exists already") as string,
    });
    expect(await operated.condition("shop/api", "PoliciesApplied")).toMatchObject({ status: "False", reason: "ApplyFailed" });
    expect(await operated.read("ConfigMap", "shop/api-env")).toMatchObject({ data: { mine: "yes" } });
    await operated.remove(operated.cluster.resource("ConfigMap"), "shop/api-env");
    await operated.live(20_000, 1_000);
    expect(await operated.condition("shop/api", "Ready")).toMatchObject(READY);
  });
});

describe("fields that are written once", () => {
  test("replicas under an autoscaler: the first number is ours, every later one the autoscaler's", async () => {
    const spec = { replicas: { min: 2, max: 9 } };
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", spec)] });
    expect(await operated.read("Deployment", "shop/api")).toMatchObject({ spec: { replicas: 2 } });
    const key = { namespace: "shop", name: "api" };
    await operated.client.patch(
      operated.cluster.resource("Deployment"),
      key,
      { type: "merge", patch: { spec: { replicas: 7 } } },
      { fieldManager: "autoscaler" },
    );
    await operated.apply(latticeService("shop/api", { ...spec, ...withVariables({ A: "new" }) }));
    await operated.live(3_000);
    expect(await operated.read("Deployment", "shop/api")).toMatchObject({ spec: { replicas: 7 } });
  });

  test("a service that gets an autoscaler keeps the pods it has", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", { replicas: { min: 4 } })] });
    await operated.apply(latticeService("shop/api", { replicas: { min: 2, max: 9 } }));
    await operated.live(2_000);
    const deployment = await operated.read("Deployment", "shop/api");
    expect(deployment).toMatchObject({ spec: { replicas: 4 } });
    const managers = deployment?.metadata.managedFields?.flatMap((entry) =>
      fieldAt(entry, "fieldsV1", "f:spec", "f:replicas") === undefined ? [] : [fieldAt(entry, "manager")],
    );
    expect(managers).toEqual(["lattice-once"]);
    await operated.apply(latticeService("shop/api", { replicas: { min: 3 } }));
    await operated.live(2_000);
    expect(await operated.read("Deployment", "shop/api")).toMatchObject({ spec: { replicas: 3 } });
  });

  test("under a canary Flagger may rewrite the Service, and its copy of the Deployment is the one that counts", async () => {
    const spec = { deploy: { strategy: "canary" } };
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", spec)] });
    const key = { namespace: "shop", name: "api" };
    expect(await operated.read("Service", "shop/api")).toMatchObject({
      spec: { selector: { "app.kubernetes.io/name": "api" }, ports: [{ name: "http", port: 8080 }] },
    });
    const selector = { "app.kubernetes.io/name": "api-primary" };
    await operated.client.patch(
      operated.cluster.resource("Service"),
      key,
      { type: "merge", patch: { spec: { selector } } },
      { fieldManager: "flagger" },
    );
    await operated.apply(latticeService("shop/api", { ...spec, ...withVariables({ A: "new" }) }));
    await operated.live(2_000);
    expect(await operated.read("Service", "shop/api")).toMatchObject({ spec: { selector } });

    const primary = structuredClone(await operated.read("Deployment", "shop/api")) as {
      metadata: object;
      spec: { template: { metadata: { labels: object } } };
    };
    const labels = { ...primary.spec.template.metadata.labels, "app.kubernetes.io/name": "api-primary" };
    await operated.apply({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "api-primary", namespace: "shop", labels },
      spec: { replicas: 3, selector: { matchLabels: selector }, template: { ...primary.spec.template, metadata: { labels } } },
    });
    await operated.live(2_000);
    expect(await operated.condition("shop/api", "WorkloadsReady")).toMatchObject({ status: "True", message: "3 of 3 pods are ready" });
  });
});

describe("deletion", () => {
  test("removes what was made and closes the edges at the neighbours", async () => {
    const front = latticeService("shop/front", { resources: calls("api") });
    const api = latticeService("shop/api", { ...withVariables({ A: "b" }), resources: isCalledBy("front") });
    await using operated = await OperatedCluster.start({ objects: [front, api] });
    const egress = async () => JSON.stringify(await operated.read("CiliumNetworkPolicy", "shop/front"));
    expect(await egress()).toContain('"lattice.dev/service":"api"'.replace("lattice.dev", "lattice.dev"));
    await operated.remove(latticeServices, "shop/api");
    await operated.live(3_000);
    expect(await operated.read("LatticeService", "shop/api")).toBeUndefined();
    for (const kind of ["Deployment", "Service", "CiliumNetworkPolicy", "ServiceAccount"]) {
      expect([kind, await operated.read(kind, "shop/api")]).toEqual([kind, undefined]);
    }
    expect(await operated.read("ConfigMap", "shop/api-env")).toBeUndefined();
    expect(await egress()).not.toContain('service":"api"');
  });

  test("removes what lies in the namespace of an environment too, where no owner reference reaches, and keeps data", async () => {
    const spec = {
      environment: "prod",
      resources: { data: { type: "volume", params: { size: "1Gi" } } },
      containers: { main: { image: "a:1", volumes: { "/d": { source: "${resources.data.ref}" } } } },
    };
    await using operated = await OperatedCluster.start({
      objects: [environment("prod", { sourceNamespaces: ["team"] }), latticeService("team/api", spec)],
    });
    expect(await operated.names("Deployment", "prod")).toEqual(["api"]);
    expect((await operated.read("PersistentVolumeClaim", "prod/data"))?.metadata.ownerReferences).toBeUndefined();
    await operated.remove(latticeServices, "team/api");
    await operated.live(3_000);
    expect([await operated.names("Deployment", "prod"), await operated.names("ServiceAccount", "prod")]).toEqual([[], ["default"]]);
    expect(await operated.names("PersistentVolumeClaim", "prod")).toEqual(["data"]);
  });

  test("moving to another environment takes everything along", async () => {
    const environments = ["blue", "green"].map((name) => environment(name, { sourceNamespaces: ["team"] }));
    await using operated = await OperatedCluster.start({ objects: [...environments, latticeService("team/api", { environment: "blue" })] });
    await operated.apply(latticeService("team/api", { environment: "green" }));
    await operated.live(5_000);
    expect([await operated.names("Deployment", "blue"), await operated.names("Deployment", "green")]).toEqual([[], ["api"]]);
  });
});

describe("what is not in order", () => {
  test("a service that may not go where it wants says so, and what would let it", async () => {
    await using operated = await OperatedCluster.start({
      objects: [environment("prod"), latticeService("team/api", { environment: "prod" })],
    });
    const { status } = await operated.service("team/api");
    expect(status).toMatchObject({ phase: "Failed", message: expect.stringContaining("add team to spec.sourceNamespaces") as string });
    await operated.apply(environment("prod", { sourceNamespaces: ["team"] }));
    await operated.live(3_000);
    expect(await operated.condition("team/api", "Ready")).toMatchObject(READY);
  });

  test("an object that is older than the schema is refused with its fields, and looked at again after five minutes", async () => {
    const bad = {
      apiVersion: "lattice.dev/v1alpha1",
      kind: "LatticeService",
      metadata: { name: "api", namespace: "shop" },
      spec: { containers: {} },
    };
    await using operated = await OperatedCluster.start({});
    await operated.cluster.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }, bad);
    await operated.live(1_000);
    expect((await operated.service("shop/api")).status).toMatchObject({
      phase: "Failed",
      message: expect.stringContaining("at least one container") as string,
    });
    expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "False", reason: "InvalidSpec" });
    expect(await operated.condition("shop/api", "Accepted")).toMatchObject({ status: "False", reason: "InvalidSpec" });
    const passes = () => operated.lines.filter(({ fields }) => fields["controller"] === "service" && fields["name"] === "api").length;
    const before = passes();
    await operated.live(290_000, 10_000);
    expect(passes()).toBe(before);
    await operated.live(20_000, 10_000);
    expect(passes()).toBe(before + 1);
  });

  test("patch mode is accepted, and says that it is not built yet", async () => {
    const workloadRef = { name: "nginx", namespace: "shop" };
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", { workloadRef })] });
    expect((await operated.service("shop/api")).status).toMatchObject({
      phase: "Pending",
      mode: "Patch",
      workloadRef: { resolved: false, ...workloadRef },
      message: "patch mode is not built yet: Deployment shop/nginx is left as it is",
    });
    expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "False", reason: "PatchModeNotBuilt" });
    expect(await operated.condition("shop/api", "Implemented")).toMatchObject({
      status: "False",
      message: "this release of Lattice does not act on spec.workloadRef yet",
    });
    expect(await operated.read("Deployment", "shop/api")).toBeUndefined();
  });
});
