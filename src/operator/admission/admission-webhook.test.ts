import { describe, expect, test, vi } from "vitest";
import { expectOk } from "#base";
import type { WebhookAddress } from "#http";
import { configMaps, field, fieldAt, mutatingWebhookConfigurations, secrets, services, type Json, type KubeObject } from "#kube";
import { CONFIGURATION, HOME, patchMap, startAdmissionWorld, type AdmissionWorld } from "./admission-world.test-support.ts";
import { ADMISSION_CERTIFICATE_SECRET } from "./serving-secret.ts";

const API = { namespace: "shop", name: "api" };
const WEB = { namespace: "shop", name: "web" };
const until = <T>(look: () => T | Promise<T>) => vi.waitFor(look, { timeout: 20_000, interval: 20 });

/** Waits until the configuration has these targets, and the webhook answers. */
async function configured({ hook }: AdmissionWorld, ...targets: readonly string[]): Promise<Json> {
  return until(async () => {
    const found = await hook();
    const expression = fieldAt((fieldAt(found, "matchConditions") as readonly Json[] | undefined)?.[0], "expression");
    expect(expression).toBe(`request.namespace + "/" + request.name in [${targets.map((target) => `"${target}"`).join(",")}]`);
    return found ?? null;
  });
}

const portOf = (address: WebhookAddress | undefined) => (address?.kind === "url" ? address.port : 0);

describe("the webhook of one operator", () => {
  test("does not exist until a service is in patch mode", async () => {
    const world = await startAdmissionWorld();
    const { replica, lead } = world.startReplica();
    await lead();
    await until(() =>
      expect(replica.health()).toEqual({ ready: true, details: { webhook: "0 patches (watching), needs no certificate yet" } }),
    );
    expect(await world.configuration()).toBeUndefined();
    expect(expectOk(await world.client.list(secrets)).items).toEqual([]);
    expect(replica.address()).toBeUndefined();
  });

  test("patches the Deployments that services refer to, and no others", async () => {
    const world = await startAdmissionWorld();
    const { replica, lead, metrics } = world.startReplica();
    await lead();
    await world.addPatch(API);
    await configured(world, "shop/api");
    expect(await world.createDeployment(API)).toBe("api");
    expect(await world.createDeployment(WEB)).toBeUndefined();
    expect(await world.createDeployment({ namespace: "bank", name: "api" })).toBeUndefined();
    expect(metrics.render()).toContain('lattice_admission_reviews_total{result="patched"} 1\n');
    expect(metrics.render()).not.toContain("not-referenced");
    expect(replica.health()).toMatchObject({
      ready: true,
      details: { webhook: expect.stringMatching(/1 patches.*listens on port/) as string },
    });
  });

  test("is configured as Kubernetes needs it to never block a write", async () => {
    const world = await startAdmissionWorld();
    const { replica, lead } = world.startReplica();
    await lead();
    await world.addPatch(API);
    await world.addPatch({ namespace: "bank", name: "b" });
    await configured(world, "bank/b", "shop/api");
    const common = {
      admissionReviewVersions: ["v1"],
      clientConfig: {
        url: `https://127.0.0.1:${portOf(replica.address())}/mutate/deployments`,
        caBundle: expect.any(String) as string,
      },
      failurePolicy: "Ignore",
      matchConditions: [{ name: "referenced-by-a-service", expression: 'request.namespace + "/" + request.name in ["bank/b","shop/api"]' }],
      matchPolicy: "Equivalent",
      namespaceSelector: { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: ["bank", "shop"] }] },
      reinvocationPolicy: "IfNeeded",
      sideEffects: "None",
      timeoutSeconds: 2,
    };
    const rule = { apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"], scope: "Namespaced" };
    expect(field(await world.configuration(), "webhooks")).toEqual([
      {
        ...common,
        name: "create.deployments.workload-patches.lattice.dev",
        objectSelector: {},
        rules: [{ ...rule, operations: ["CREATE"] }],
      },
      {
        ...common,
        name: "update.deployments.workload-patches.lattice.dev",
        objectSelector: { matchExpressions: [{ key: "lattice.dev/patched", operator: "Exists" }] },
        rules: [{ ...rule, operations: ["UPDATE"] }],
      },
    ]);
  });

  test("is removed with the last service in patch mode, and its certificate stays", async () => {
    const world = await startAdmissionWorld();
    await world.startReplica().lead();
    await world.addPatch(API);
    await world.addPatch(WEB);
    await configured(world, "shop/api", "shop/web");
    await world.removePatch(API);
    await configured(world, "shop/web");
    await world.removePatch(WEB);
    await until(async () => expect(await world.configuration()).toBeUndefined());
    expect((await world.client.get(secrets, { namespace: HOME, name: ADMISSION_CERTIFICATE_SECRET })).ok).toBe(true);
  });

  test("ignores patches that are not readable, forged or for system namespaces, and logs each once", async () => {
    const world = await startAdmissionWorld();
    const { lead, lines } = world.startReplica();
    await lead();
    const wrong: readonly KubeObject[] = [
      { ...patchMap(API), data: { "patch.json": "{" } } as KubeObject,
      { ...patchMap(WEB), data: {} } as KubeObject,
      patchMap({ namespace: "kube-system", name: "coredns" }),
      patchMap({ namespace: HOME, name: "lattice-operator" }),
      { ...patchMap(WEB), metadata: { ...patchMap(WEB).metadata, name: "workload-patch-forged" } },
      patchMap({ namespace: "shop", name: 'x"] || true || ["' }),
    ];
    for (const map of wrong) expectOk(await world.client.create(configMaps, map as never));
    await world.addPatch({ namespace: "shop", name: "good" });
    await configured(world, "shop/good");
    const name = patchMap(API).metadata.name;
    expectOk(
      await world.client.patch(configMaps, { namespace: HOME, name }, { type: "merge", patch: { metadata: { labels: { a: "b" } } } }),
    );
    await world.removePatch({ namespace: "shop", name: "good" });
    await until(async () => expect(await world.configuration()).toBeUndefined());
    const logged = lines.filter(({ message }) => message === "a workload patch has no effect");
    expect(logged).toHaveLength(wrong.length);
    expect(new Set(logged.map(({ fields }) => fields["configMap"])).size).toBe(wrong.length);
  });

  test("corrects changes of its configuration by others", async () => {
    const world = await startAdmissionWorld();
    await world.startReplica().lead();
    await world.addPatch(API);
    const hook = await configured(world, "shop/api");
    const wanted = field(await world.configuration(), "webhooks");
    const change = async (webhooks: (hook: Json) => readonly unknown[]) => {
      const now = await world.configuration();
      const changed = { ...now, webhooks: webhooks(hook) } as unknown as KubeObject;
      expectOk(await world.client.update(mutatingWebhookConfigurations, changed));
      await until(async () => expect(field(await world.configuration(), "webhooks")).toEqual(wanted));
    };
    await change((hook) => [{ ...(hook as object), failurePolicy: "Fail", timeoutSeconds: 30 }]);
    await change((hook) => [{ ...(hook as object), matchConditions: [] }]);
    await change((hook) => [hook, { ...(hook as object), name: "other.lattice.dev" }]);
    await change(() => []);
    expectOk(await world.client.delete(mutatingWebhookConfigurations, { name: CONFIGURATION }));
    await until(async () => expect(field(await world.configuration(), "webhooks")).toEqual(wanted));
  });

  test("takes the changes of a thousand services together", async () => {
    const world = await startAdmissionWorld();
    await world.startReplica().lead();
    await world.addPatch(API);
    await configured(world, "shop/api");
    const targets = Array.from({ length: 1_000 }, (_, at) => ({ namespace: at % 2 === 0 ? "shop" : "bank", name: `service-${at}` }));
    const before = world.cluster.actions.writes().length;
    await Promise.all(targets.map((target) => world.addPatch(target)));
    const names = [...targets, API].map(({ namespace, name }) => `${namespace}/${name}`).toSorted();
    await configured(world, ...names);
    const writes = world.cluster.actions.writes().slice(before);
    const configurations = writes.filter(({ resource }) => resource?.plural === "mutatingwebhookconfigurations");
    expect(configurations.length).toBeLessThanOrEqual(20);
  });

  test("in a cluster is reached through Service lattice-webhook of all replicas", async () => {
    const world = await startAdmissionWorld();
    const { lead } = world.startReplica({ kind: "service", host: "127.0.0.1", port: 0 });
    await lead();
    await world.addPatch(API);
    expect(await configured(world, "shop/api")).toMatchObject({
      clientConfig: { service: { namespace: HOME, name: "lattice-webhook", path: "/mutate/deployments", port: 443 } },
    });
    expect(expectOk(await world.client.get(services, { namespace: HOME, name: "lattice-webhook" })).spec).toMatchObject({
      selector: { "app.kubernetes.io/name": "lattice-operator" },
      ports: [{ name: "https", port: 443, targetPort: 9_443 }],
    });
  });
});

describe("the webhook of several replicas", () => {
  test("is served by standbys with the leader's certificate", async () => {
    const world = await startAdmissionWorld();
    const [leader, standby] = [world.startReplica(), world.startReplica()];
    await leader.lead();
    await world.addPatch(API);
    await configured(world, "shop/api");
    await until(() => expect(standby.replica.health().details["webhook"]).toMatch(/listens/));
    expect(standby.replica.index.find("shop", "api")?.service).toBe("shop/api");
  });

  test("moves to the address of the next leader, with the same authority", async () => {
    const world = await startAdmissionWorld();
    const [one, two] = [world.startReplica(), world.startReplica()];
    await one.lead();
    await world.addPatch(API);
    const before = await configured(world, "shop/api");
    await one.close();
    expect(await world.createDeployment(API)).toBeUndefined();
    await two.lead();
    await until(async () => expect(fieldAt(await world.hook(), "clientConfig", "url")).not.toBe(fieldAt(before, "clientConfig", "url")));
    expect(fieldAt(await world.hook(), "clientConfig", "caBundle")).toBe(fieldAt(before, "clientConfig", "caBundle"));
    expectOk(await world.touch(API, "again"));
    expect(two.metrics.render()).not.toContain("lattice_admission_reviews_total{");
    expectOk(await world.requestPatch(API, "again"));
    expect(two.metrics.render()).toContain('lattice_admission_reviews_total{result="patched"} 1\n');
  });
});
