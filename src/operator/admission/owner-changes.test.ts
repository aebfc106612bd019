/** The API server accepts the owner's next write although a field of the patch no longer fits it; the field is left to the owner and named. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { account, container, deployment, isPatched, main, patching, specOf, workloadRef } from "../../../test/builders/patched-service.ts";
import { PatchedWorld, until } from "../../../test/builders/patched-world.ts";
import { expectOk } from "#base";
import type { FixtureObject } from "#embedded-cluster";
import { deployments, type Deployment, type JsonObject } from "#kube";

const { securityContext: _, ...plain } = container();
const probe = { httpGet: { path: "/", port: 80 } };
const disk = { name: "disk", persistentVolumeClaim: { claimName: "disk" } };

type Owned = { readonly container?: JsonObject; readonly pod?: JsonObject };
type Row = { readonly name: string; readonly before?: Owned; readonly patch: JsonObject; readonly after?: Owned; readonly want: string };

const rows: readonly Row[] = [
  { name: "removes a probe of which the service sets the period", before: { container: { livenessProbe: probe } }, patch: { livenessProbe: { periodSeconds: 20 } }, want: "livenessProbe" },
  { name: "makes a container privileged for which the service forbids escalation", patch: { securityContext: { allowPrivilegeEscalation: false } }, after: { container: { securityContext: { privileged: true } } }, want: "securityContext.allowPrivilegeEscalation" },
  { name: "adds CAP_SYS_ADMIN where the service forbids escalation", patch: { securityContext: { allowPrivilegeEscalation: false } }, after: { container: { securityContext: { capabilities: { add: ["CAP_SYS_ADMIN"] } } } }, want: "securityContext.allowPrivilegeEscalation" },
  { name: "removes the limit of devices that the service requests", before: { container: { resources: { limits: { "nvidia.com/gpu": "1" } } } }, patch: { resources: { requests: { "nvidia.com/gpu": "1" } } }, want: `resources.requests["nvidia.com/gpu"]` },
  { name: "removes cpu next to huge pages of the service", before: { container: { resources: { limits: { cpu: "1" } } } }, patch: { resources: { requests: { "hugepages-2Mi": "4Mi" }, limits: { "hugepages-2Mi": "4Mi" } } }, want: "resources.limits.hugepages-2Mi" },
  { name: "attaches a device where the service mounts a volume", patch: { volumes: { "/data": { source: "emptydir" } } }, after: { container: { volumeDevices: [{ name: "disk", devicePath: "/data" }] }, pod: { volumes: [disk] } }, want: "volumeMounts[/data]" },
  { name: "runs the pods on Windows", patch: { securityContext: { runAsUser: 5 } }, after: { pod: { os: { name: "windows" } } }, want: "securityContext.runAsUser" },
]; // prettier-ignore

describe("an owner whose next write no longer fits a field of the patch", () => {
  let world: PatchedWorld;
  beforeAll(async () => void (world = await PatchedWorld.start()), 60_000);
  afterAll(() => world[Symbol.asyncDispose]());

  test.each(rows.map((row, index) => ({ ...row, id: `web${index}` })))(
    "$name",
    async ({ id, before, patch, after, want }) => {
      const live = async () => (await world.read("Deployment", `shop/${id}`)) as Deployment | undefined;
      const ref = { workloadRef: { name: id, namespace: "shop" } };
      await world.apply(account(id), owned(id, before), patching({ ...ref, containers: { main: patch } }, `shop/${id}`));
      await until(async () => expect(isPatched(await live())).toBe(true));
      await world.apply(owned(id, after));
      const message = expect.stringContaining(`containers[main].${want}`) as string;
      await until(async () =>
        expect((await world.conditions(`shop/${id}`)).get("WorkloadPatched")).toMatchObject({ reason: "FieldsNotPatched", message }),
      );
      expect(main(await live())).toMatchObject(after?.container ?? {});
    },
    60_000,
  );
});

test("an owner that needs the room of the record gets it in its own write, and the Deployment is patched again when there is room", async () => {
  await using world = await PatchedWorld.start();
  const live = async () => (await world.read("Deployment", "shop/nginx")) as Deployment | undefined;
  await world.apply(account(), deployment());
  const before = specOf(await live());
  await world.apply(patching());
  await until(async () => expect(isPatched(await live())).toBe(true));
  const annotate = async (note: string | null) =>
    expectOk(await world.cluster.client.patch(deployments, workloadRef, { type: "merge", patch: { metadata: { annotations: { note } } } }));
  const after = await annotate("x".repeat(261_500));
  expect([isPatched(after), specOf(after)]).toEqual([false, before]);
  await until(async () =>
    expect((await world.conditions("shop/web")).get("WorkloadPatched")).toMatchObject({
      status: "False",
      reason: "PatchRejected",
      message:
        "Deployment shop/nginx is not patched: the record of the changed fields would make the annotations of Deployment nginx larger than 240 KiB, of the 256 KiB that API servers allow; shorten its annotations, or patch fewer fields",
    }),
  );
  await annotate(null);
  await until(async () => expect(isPatched(await live())).toBe(true));
}, 60_000);

function owned(name: string, { container: fields = {}, pod = {} }: Owned = {}): FixtureObject {
  const containers = [{ ...plain, ...fields }];
  const spec = { serviceAccountName: name, containers, ...pod };
  const template = { metadata: { labels: { app: name } }, spec };
  return { ...deployment({ name }), spec: { replicas: 1, selector: { matchLabels: { app: name } }, template } };
}
