/** What others make of a patched Deployment is theirs: Flagger's copy, and the replicas of an autoscaler. */
import { describe, expect, test } from "vitest";
import { millisecondsOf, timestampOf } from "#base";
import { latticeServices } from "#crds";
import type { FixtureObject } from "#embedded-cluster";
import { deployments, fieldAt, type Deployment, type KubeObject } from "#kube";
import { parseWorkloadPatch } from "#workload-patch";
import { initializeCanary, promoteCanary, type FlaggerOptions } from "../../../test/builders/flagger.ts";
import { latticeService } from "../../../test/builders/lattice-objects.ts";
import {
  account,
  container,
  deployment,
  isPatched,
  nginx,
  patching,
  recordIn,
  startPatching,
  type Started,
} from "../../../test/builders/patched-service.ts";

const CANARY = { apiVersion: "flagger.app/v1beta1", kind: "Canary" };
const targetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "nginx" };
/** Of Deployment nginx, which its owner has added. */
const canary: FixtureObject = { ...CANARY, metadata: { name: "nginx", namespace: "shop" }, spec: { targetRef, service: { port: 80 } } };

const clusterOf = ({ operated }: Started) => ({ client: operated.client, resource: (kind: string) => operated.cluster.resource(kind) });

/** A Canary of Deployment nginx that Flagger has initialized. */
async function withCanary(started: Started, options: FlaggerOptions = {}): Promise<void> {
  await started.operated.apply(canary);
  await initializeCanary(clusterOf(started), "shop/nginx", options);
}

const promote = (started: Started, options: FlaggerOptions = {}) => promoteCanary(clusterOf(started), "shop/nginx", options);

const copyOf = ({ operated }: Started) => operated.read<Deployment>("Deployment", "shop/nginx-primary");
/** Without what the controllers of the cluster write. */
const written = (object: KubeObject | undefined) => {
  const { "deployment.kubernetes.io/revision": _, ...annotations } = object?.metadata.annotations ?? {};
  return { labels: object?.metadata.labels, annotations, spec: fieldAt(object, "spec") };
};
const writesOf = ({ operated }: Started, name: string) =>
  operated.writes().filter((write) => write.endsWith(`deployments.apps shop/${name}`));

async function storedTargets({ operated }: Started): Promise<readonly string[]> {
  const maps = (await operated.list("ConfigMap")).filter(({ metadata }) => metadata.labels?.["lattice.dev/workload-patch"] === "true");
  return maps.flatMap((map) => {
    const text = fieldAt(map, "data", "patch.json");
    const patch = typeof text === "string" ? parseWorkloadPatch(text) : undefined;
    return patch?.ok === true ? [patch.value.target.name] : ["not readable"];
  });
}

describe("Flagger's copy of a patched Deployment, with its labels and its record", () => {
  test("is never written, and never gets a patch, while the service is changed, its Deployment upgraded, and the service deleted", async () => {
    await using started = await startPatching([account(), deployment(), patching()]);
    const { operated } = started;
    const source = await nginx(started);
    if (source === undefined) throw new Error("no Deployment");
    expect(source.metadata.labels).toEqual({ "lattice.dev/patched": "true", "lattice.dev/service": "web" });
    await withCanary(started, { includeLabelPrefix: "*" });
    const before = written(await copyOf(started));
    const steps = [
      () => operated.apply(patching({ containers: { main: { variables: { LEVEL: "trace" }, image: "nginx:2" } } })),
      () => operated.apply(deployment({ containers: [{ ...container(), image: "nginx:3" }] })),
      () => operated.remove(latticeServices, "shop/web"),
    ];
    for (const step of steps) {
      expect(await storedTargets(started)).toEqual(["nginx"]);
      await step();
      await operated.live(10_000, 500);
      expect(written(await copyOf(started))).toEqual(before);
    }
    expect(writesOf(started, "nginx-primary")).toEqual([]);
    expect(await storedTargets(started)).toEqual([]);
    expect((await nginx(started))?.metadata.labels).toBeUndefined();
    await operated.live(600_000, 5_000);
    expect(await operated.read("LatticeService", "shop/web")).toBeUndefined();
    expect(written(await copyOf(started))).toEqual(before);
  });

  test.each<{ name: string; options: FlaggerOptions; promotions: number }>([
    { name: "initialized", options: {}, promotions: 0 },
    { name: "promoted, which removes the record", options: {}, promotions: 1 },
    { name: "promoted, without config tracking", options: { configTracking: false }, promotions: 1 },
    { name: "promoted, with all labels and annotations", options: { configTracking: false, includeLabelPrefix: "*" }, promotions: 2 },
  ])("holds up the deletion of the service until Flagger promotes: $name", async ({ options, promotions }) => {
    await using started = await startPatching([account(), deployment(), patching()]);
    const { operated } = started;
    await withCanary(started, options);
    for (let count = 0; count < promotions; count++) await promote(started, options);
    await operated.remove(latticeServices, "shop/web");
    await operated.live(60_000, 1_000);
    expect([isPatched(await nginx(started)), await operated.names("ConfigMap", "shop")]).toEqual([
      false,
      expect.arrayContaining(["web-env"]),
    ]);
    const { deletionTimestamp = "" } = (await operated.service("shop/web")).metadata;
    const end = timestampOf(millisecondsOf(deletionTimestamp) + 600_000);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({
      status: "False",
      reason: "Detaching",
      message: `Deployment shop/nginx is restored, and Flagger's copy shop/nginx-primary still has its patch; waiting until Flagger promotes the Deployment, at the latest until ${end}`,
    });
    await promote(started, options);
    await operated.live(10_000, 1_000);
    expect(await operated.read("LatticeService", "shop/web")).toBeUndefined();
    expect(await operated.names("ConfigMap", "shop")).not.toContain("web-env");
  });

  test("keeps the config that it refers to until it is promoted, when the service has no variables any more", async () => {
    await using started = await startPatching([account(), deployment(), patching()]);
    const { operated } = started;
    const options = { configTracking: false };
    await withCanary(started, options);
    await operated.apply(patching({ containers: { main: { resources: { limits: { memory: "2Gi" } } } } }));
    await operated.live(60_000, 1_000);
    expect(JSON.stringify(await nginx(started))).not.toContain("web-env");
    expect(await operated.names("ConfigMap", "shop")).toContain("web-env");
    await promote(started, options);
    await operated.live(10_000, 1_000);
    expect(await operated.names("ConfigMap", "shop")).not.toContain("web-env");
  });

  test("gets the traffic of a Service that the service has made: Flagger rewrites it, and it is left so until the Canary is deleted", async () => {
    const withPorts = patching({ service: { ports: { http: { port: 80 } } } }, "shop/nginx");
    await using started = await startPatching([account(), deployment(), withPorts]);
    const { operated } = started;
    const selector = async () => fieldAt(await operated.read("Service", "shop/nginx"), "spec", "selector");
    expect(await selector()).toEqual({ "lattice.dev/service": "nginx" });
    await withCanary(started);
    await operated.live(10_000, 500);
    expect(await selector()).toEqual({ app: "nginx-primary" });
    const { resourceVersion } = (await operated.read("Service", "shop/nginx"))?.metadata ?? {};
    await operated.live(700_000, 10_000);
    expect((await operated.read("Service", "shop/nginx"))?.metadata.resourceVersion).toBe(resourceVersion);
    await operated.remove(operated.cluster.resource("Canary"), "shop/nginx");
    await operated.live(10_000, 500);
    expect(await selector()).toEqual({ "lattice.dev/service": "nginx" });
  });

  test("keeps the Service that the service has made, when the service is deleted: it belongs to the Canary then", async () => {
    const withPorts = patching({ service: { ports: { http: { port: 80 } } } }, "shop/nginx");
    await using started = await startPatching([account(), deployment(), withPorts], { rbac: true });
    const { operated } = started;
    await withCanary(started);
    await operated.live(10_000, 500);
    const before = await operated.read("Service", "shop/nginx");
    await operated.remove(latticeServices, "shop/nginx");
    await operated.live(10_000, 500);
    await promote(started);
    await operated.live(60_000, 1_000);
    expect(await operated.read("LatticeService", "shop/nginx")).toBeUndefined();
    const after = await operated.read("Service", "shop/nginx");
    expect([after?.metadata.uid, fieldAt(after, "spec", "selector")]).toEqual([before?.metadata.uid, { app: "nginx-primary" }]);
    const { labels, annotations, ownerReferences } = after?.metadata ?? {};
    expect([labels?.["lattice.dev/owned-by"], annotations, ownerReferences?.map(({ kind, name }) => `${kind} ${name}`)]).toEqual([
      undefined,
      undefined,
      ["Canary nginx"],
    ]);
  });

  test("holds up the deletion of the service for ten minutes, and a change to ownership mode not at all", async () => {
    await using started = await startPatching([account(), deployment(), patching()]);
    const { operated } = started;
    await withCanary(started);
    await operated.apply(latticeService("shop/web"));
    await operated.live(10_000, 500);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
    expect(await operated.names("Deployment", "shop")).toEqual(["nginx", "nginx-primary", "web"]);
    await operated.remove(latticeServices, "shop/web");
    await operated.live(590_000, 5_000);
    expect(await operated.read("LatticeService", "shop/web")).toBeDefined();
    await operated.live(20_000, 5_000);
    expect(await operated.read("LatticeService", "shop/web")).toBeUndefined();
  });

  test("cannot be named by a service", async () => {
    await using started = await startPatching([account(), deployment(), patching()]);
    const { operated } = started;
    await withCanary(started);
    await operated.apply(patching({ workloadRef: { name: "nginx-primary", namespace: "shop" } }, "shop/second"));
    await operated.live(6_000, 500);
    expect(await operated.condition("shop/second", "Ready")).toMatchObject({
      status: "False",
      message: expect.stringContaining("is a copy that Flagger makes and overwrites") as string,
    });
    expect(await storedTargets(started)).toEqual(["nginx"]);
    expect(writesOf(started, "nginx-primary")).toEqual([]);
  });
});

describe("an autoscaler of a patched Deployment", () => {
  const autoscaler: FixtureObject = {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "owners", namespace: "shop" },
    spec: { minReplicas: 2, maxReplicas: 9, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "nginx" } },
  };

  test("keeps its replicas when the Deployment is patched, patched again and restored", async () => {
    await using started = await startPatching([account(), autoscaler, deployment(), patching({ replicas: { min: 3, max: 4 } })]);
    const { operated } = started;
    const spec = fieldAt(await operated.read("HorizontalPodAutoscaler", "shop/owners"), "spec");
    const scale = async (replicas: number) => {
      const body = { type: "merge", patch: { spec: { replicas } } } as const;
      await operated.client.patch(deployments, { namespace: "shop", name: "nginx" }, body, { fieldManager: "hpa-controller" });
      await operated.live(6_000, 500);
      expect((await nginx(started))?.spec.replicas).toBe(replicas);
    };
    await scale(5);
    await operated.apply(patching({ containers: { main: { image: "nginx:2" } }, replicas: { min: 3, max: 4 } }));
    await operated.live(6_000, 500);
    expect((await nginx(started))?.spec.replicas).toBe(5);
    await scale(7);
    const { fields = [] } = recordIn(await nginx(started)) ?? {};
    expect(fields.length).toBeGreaterThan(0);
    expect(fields.filter(({ path }) => path.includes("replicas"))).toEqual([]);
    await operated.remove(latticeServices, "shop/web");
    await operated.live(10_000, 500);
    expect((await nginx(started))?.spec.replicas).toBe(7);
    expect(await operated.names("HorizontalPodAutoscaler", "shop")).toEqual(["owners"]);
    expect(fieldAt(await operated.read("HorizontalPodAutoscaler", "shop/owners"), "spec")).toEqual(spec);
    expect(operated.writes().filter((write) => write.includes("horizontalpodautoscalers"))).toEqual([]);
  });
});
