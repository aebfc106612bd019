/** A LatticeService on a cluster, from its user's point of view. */
import { describe, expect, test } from "vitest";
import { calls, isCalledBy, latticeService, secret, withVariables } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

const READY = { type: "Ready", status: "True", reason: "Compiled", message: "All resources compiled and applied" };

/** Objects that were applied for a service, without those of its namespace. */
function applied(writes: readonly string[], key: string): readonly string[] {
  const [namespace = "", name = ""] = key.split("/");
  return writes
    .filter((line) => line.startsWith("apply ") && !line.includes("lattice-default-deny"))
    .map((line) => line.slice("apply ".length))
    .filter((line) => new RegExp(` ${namespace}/${name}(-|$)`).test(line));
}

describe("objects of a service", () => {
  test("E2E: Service with templates deploys with ConfigMaps", async () => {
    const spec = withVariables({ LOG_LEVEL: "info", SERVICE_NAME: "${metadata.name}" });
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", spec)] });
    expect(await operated.read("ConfigMap", "shop/api-env")).toMatchObject({ data: { LOG_LEVEL: "info", SERVICE_NAME: "api" } });
    const deployment = await operated.read("Deployment", "shop/api");
    expect(deployment).toMatchObject({
      spec: { template: { spec: { containers: [{ envFrom: [{ configMapRef: { name: "api-env" } }] }] } } },
      status: { availableReplicas: 1 },
    });
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
      // applied before the first pod starts
      "authorizationpolicies.security.istio.io",
      "ciliumnetworkpolicies.cilium.io",
      "configmaps",
      "secrets",
      "serviceaccounts",
      "deployments.apps",
      "services",
      "horizontalpodautoscalers.autoscaling",
      "poddisruptionbudgets.policy",
      "canaries.flagger.app",
      "httproutes.gateway.networking.k8s.io",
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
    const reported = (await operated.events()).filter(({ regarding, type }) => regarding["name"] === "api" && type === "Warning");
    expect(reported).toMatchObject([{ reason: "CompileError" }]);

    await operated.apply(secret("shop/postgres-db", { password: "p" }), latticeService("shop/api", withVariables({ A: "mended" })));
    await operated.live(1_000);
    expect(await operated.condition("shop/api", "Ready")).toMatchObject(READY);
  });
});

describe("conditions of a service", () => {
  test("TemplatesResolved, ConfigCompiled, WorkloadsReady, PoliciesApplied and Ready, with their reasons and messages", async () => {
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
    const stated = conditions?.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`);
    expect(stated).toEqual(
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

  test("a service that was never compiled reports it in every condition", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", withVariables({ A: "${config.nope}" }))] });
    expect(await operated.condition("shop/api", "WorkloadsReady")).toMatchObject({ status: "Unknown", reason: "NotCompiled" });
    expect(await operated.condition("shop/api", "PoliciesApplied")).toMatchObject({ status: "Unknown", reason: "NotCompiled" });
    expect(await operated.read("Deployment", "shop/api")).toBeUndefined();
  });

  test("WorkloadsReady follows the rollout and reports why it makes no progress, while the old pods keep the service Ready", async () => {
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
      message: expect.stringMatching(
        /^ReplicaSet "api-[a-z0-9]+" has timed out progressing; 1 pod cannot run: container main: the image app:broken cannot be pulled$/,
      ) as string,
    });
    const { status } = await operated.service("shop/api");
    expect(status).toMatchObject({ phase: "Ready", message: expect.stringContaining("timed out progressing") as string });
    expect(await operated.condition("shop/api", "Ready")).toMatchObject(READY);

    await operated.apply(latticeService("shop/api", { replicas: { min: 2 }, containers: { main: { image: "app:mended" } } }));
    await operated.live(3_000);
    expect(await operated.condition("shop/api", "Ready")).toMatchObject(READY);
  });
});
