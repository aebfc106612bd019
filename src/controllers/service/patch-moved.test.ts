/** What was patched before a change is restored exactly, what is named after it is patched, and nothing is left over; also when no operator ran meanwhile. */
import { describe, expect, test } from "vitest";
import type { FixtureObject } from "#embedded-cluster";
import { deployments, fieldAt } from "#kube";
import { sharedDeployment, shopEnvironment, startSharing } from "../../../test/builders/shared-deployment.ts";
import {
  account,
  container,
  declared,
  deployment,
  isPatched,
  nginx,
  patching,
  recordIn,
  startPatching,
  storedPatches,
  workloadRef,
  type Started,
} from "../../../test/builders/patched-service.ts";

/** What its owner wrote. */
async function owned({ operated }: Started, name = "nginx") {
  const found = await operated.read("Deployment", `shop/${name}`);
  const { "deployment.kubernetes.io/revision": _, ...annotations } = found?.metadata.annotations ?? {};
  return { spec: fieldAt(found, "spec"), labels: found?.metadata.labels ?? {}, annotations };
}

const patched = async ({ operated }: Started, name = "nginx") => isPatched(await operated.read("Deployment", `shop/${name}`));

/** The containers in the record. */
async function recordedContainers(started: Started): Promise<ReadonlySet<string>> {
  const record = recordIn(await nginx(started));
  const steps = (record?.fields ?? []).map(({ path }) => path[4]);
  return new Set(steps.flatMap((step) => (typeof step === "object" && "key" in step ? [JSON.stringify(step.key)] : [])));
}

/** Neither the operator nor its webhook runs. */
async function away(started: Started, change: () => Promise<void>): Promise<void> {
  const { operated, webhook } = started;
  await operated.stopOperator();
  webhook.isUp = false;
  await change();
  webhook.isUp = true;
  operated.startOperator();
}

const present = (_: Started, change: () => Promise<void>) => change();

describe.each([
  { name: "while the operator runs", during: present },
  { name: "while no operator runs", during: away },
])("$name", ({ during }) => {
  test("workloadRef is changed to another Deployment", async () => {
    await using started = await startPatching([account(), deployment(), deployment({ name: "other" })]);
    const { operated } = started;
    const before = [await owned(started), await owned(started, "other")];
    await operated.apply(patching());
    await operated.live(6_000, 500);
    await during(started, () => operated.apply(patching({ workloadRef: { ...workloadRef, name: "other" } })));
    await operated.live(20_000, 500);
    expect([await patched(started), await owned(started), await patched(started, "other")]).toEqual([false, before[0], true]);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
    expect((await operated.service("shop/web")).status).toMatchObject({ workloadRef: { name: "other", resolved: true }, mode: "Patch" });
    expect(await storedPatches(operated)).toHaveLength(1);
    await during(started, () => operated.apply(patching()));
    await operated.live(20_000, 500);
    expect([await patched(started), await patched(started, "other"), await owned(started, "other")]).toEqual([true, false, before[1]]);
  });

  const withdrawals: readonly { name: string; withdraw: FixtureObject }[] = [
    { name: "the label", withdraw: deployment({ metadata: { labels: {} } }) },
    { name: "the namespace in the environment", withdraw: shopEnvironment([]) },
  ];
  test.each(withdrawals)("$name is removed, and set again", async ({ withdraw }) => {
    await using started = await startSharing();
    const { operated } = started;
    const isShared = (await owned(started)).labels["lattice.dev/shareable"];
    const live = await owned(started);
    await during(started, () => operated.apply(withdraw));
    await operated.live(20_000, 500);
    const restored = await owned(started);
    expect([await patched(started), await storedPatches(operated)]).toEqual([false, []]);
    expect(JSON.stringify(restored)).not.toMatch(/lattice\.dev\/(service|patch)|LATTICE_|web-env/);
    await during(started, () => operated.apply(shopEnvironment(["tenant"]), sharedDeployment));
    await operated.live(70_000, 1_000);
    const again = await owned(started);
    expect([again.spec, again.labels, isShared]).toEqual([live.spec, live.labels, "true"]);
    await during(started, () => operated.remove(operated.cluster.resource("LatticeService"), "tenant/web"));
    await operated.live(20_000, 500);
    const { labels, ...rest } = restored;
    expect(await owned(started)).toEqual({ ...rest, labels: { ...labels, "lattice.dev/shareable": "true" } });
  });

  test("the owner renames the container, and then the service does", async () => {
    const renamed = deployment({ containers: [container("app")] });
    await using started = await startPatching([account(), renamed]);
    const { operated } = started;
    const before = await owned(started);
    await operated.apply(deployment(), patching());
    await operated.live(6_000, 500);
    expect(await recordedContainers(started)).toEqual(new Set(['{"name":"main"}']));
    await during(started, () => operated.apply(renamed));
    await operated.live(20_000, 500);
    expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ reason: "ContainerMissing" });
    expect(await recordedContainers(started)).toEqual(new Set());
    expect(fieldAt(await operated.read("Deployment", "shop/nginx"), "spec", "template", "spec", "containers")).toHaveLength(1);
    await during(started, () => operated.apply(patching({ containers: { app: declared.containers.main } })));
    await operated.live(20_000, 500);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
    expect(await recordedContainers(started)).toEqual(new Set(['{"name":"app"}']));
    await during(started, () => operated.remove(operated.cluster.resource("LatticeService"), "shop/web"));
    await operated.live(20_000, 500);
    expect(await owned(started)).toEqual(before);
  });

  test("the Deployment is deleted, and created again with other values", async () => {
    await using started = await startPatching([account(), deployment(), patching()]);
    const { operated } = started;
    const again = deployment({ containers: [{ ...container(), image: "nginx:7", env: [] }] });
    await during(started, async () => {
      await operated.remove(deployments, "shop/nginx");
      await operated.live(2_000, 500);
      await operated.apply(again);
    });
    await operated.live(20_000, 500);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
    expect(await patched(started)).toBe(true);
    await operated.remove(operated.cluster.resource("LatticeService"), "shop/web");
    await operated.live(20_000, 500);
    const template = fieldAt(await operated.read("Deployment", "shop/nginx"), "spec", "template", "spec", "containers");
    expect(template).toMatchObject([{ name: "main", image: "nginx:7" }]);
    expect(JSON.stringify(await owned(started))).not.toMatch(/lattice|LATTICE/);
  });
});
