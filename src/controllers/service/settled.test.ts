/** The requests of a running service, and its fields that other clients own. */
import { describe, expect, test } from "vitest";
import { fieldAt } from "#kube";
import { environment, latticeService, secret, withVariables } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

const READY = { type: "Ready", status: "True", reason: "Compiled" };

describe("a settled service", () => {
  test("causes no writes, and compiledAt does not change, also over a restart of the operator", async () => {
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

  test("prunes objects that are no longer compiled, and never those of a user", async () => {
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

  test("an object that a user created under the same name is reported and not changed", async () => {
    const mine = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "api-env", namespace: "shop" }, data: { mine: "yes" } };
    await using operated = await OperatedCluster.start({ objects: [mine, latticeService("shop/api", withVariables({ A: "b" }))] });
    const { status } = await operated.service("shop/api");
    expect(status).toMatchObject({
      phase: "Failed",
      message: expect.stringContaining("ConfigMap shop/api-env: it exists already") as string,
    });
    // its policies do not wait for the ConfigMap
    expect(await operated.condition("shop/api", "PoliciesApplied")).toMatchObject({ status: "True", reason: "Applied" });
    expect(await operated.read("ConfigMap", "shop/api-env")).toMatchObject({ data: { mine: "yes" } });
    await operated.remove(operated.cluster.resource("ConfigMap"), "shop/api-env");
    await operated.live(20_000, 1_000);
    expect(await operated.condition("shop/api", "Ready")).toMatchObject(READY);
  });
});

describe("fields that are written once", () => {
  test("replicas under an autoscaler: the operator sets the first number, the autoscaler every later one", async () => {
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

  test("a service that gets an autoscaler keeps its number of pods", async () => {
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

  test("under a canary Flagger may rewrite the Service, and availability follows its copy of the Deployment", async () => {
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

    const canary = await operated.read("Canary", "shop/api");
    const owner = { apiVersion: "flagger.app/v1beta1", kind: "Canary", name: "api", uid: canary?.metadata.uid ?? "" };
    const primary = structuredClone(await operated.read("Deployment", "shop/api")) as unknown as {
      metadata: object;
      spec: { template: { metadata: { labels: object } } };
    };
    const labels = { ...primary.spec.template.metadata.labels, "app.kubernetes.io/name": "api-primary" };
    await operated.apply({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "api-primary", namespace: "shop", labels: { "app.kubernetes.io/name": "api-primary" }, ownerReferences: [owner] },
      spec: { replicas: 3, selector: { matchLabels: selector }, template: { ...primary.spec.template, metadata: { labels } } },
    });
    await operated.live(2_000);
    expect(await operated.condition("shop/api", "WorkloadsReady")).toMatchObject({ status: "True", message: "3 of 3 pods are ready" });
  });
});
