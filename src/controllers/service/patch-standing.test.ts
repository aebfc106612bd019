/** The status of a service that does not patch its Deployment any more reports that, also while the service has errors. */
import { expect, test } from "vitest";
import { latticeService } from "../../../test/builders/lattice-objects.ts";
import { shopEnvironment, startSharing } from "../../../test/builders/shared-deployment.ts";
import { account, deployment, nginx, isPatched, patching, startPatching } from "../../../test/builders/patched-service.ts";

const broken = { containers: { main: { image: "web:1", variables: { LEVEL: "${resources.none.url}" } } } };
const owning = { containers: { main: { image: "web:1" } } };

test("a change to ownership mode is reported to its end, although the service cannot be compiled meanwhile", async () => {
  await using started = await startPatching([account(), deployment(), patching()]);
  const { operated, webhook } = started;
  webhook.isUp = false;
  await operated.apply(latticeService("shop/web", broken));
  await operated.live(6_000, 500);
  expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({
    status: "False",
    reason: "Detaching",
    message: "the changes of Deployment shop/nginx are taken off",
  });
  webhook.isUp = true;
  await operated.live(30_000, 500);
  expect(isPatched(await nginx(started))).toBe(false);
  expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ status: "False", reason: "OwnershipMode" });
  expect((await operated.service("shop/web")).status).toMatchObject({ mode: "Ownership", phase: "Failed" });
  await operated.apply(latticeService("shop/web", owning));
  await operated.live(10_000, 500);
  expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ status: "False", reason: "OwnershipMode" });
  expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
});

test.each([
  { name: "its owner", withdraw: deployment({ metadata: { labels: {} } }), reason: "WorkloadNotAllowed", want: "is not shared with namespace tenant" },
  { name: "the environment", withdraw: shopEnvironment([]), reason: "WorkloadNotAllowed", want: "namespace" },
])("a Deployment that $name does not allow any more is not reported as patched", async ({ withdraw, reason, want }) => {
  await using started = await startSharing();
  const { operated } = started;
  expect(await operated.condition("tenant/web", "WorkloadPatched")).toMatchObject({ status: "True" });
  await operated.apply(withdraw);
  await operated.live(20_000, 500);
  const message = expect.stringContaining(want) as string;
  expect(await operated.condition("tenant/web", "WorkloadPatched")).toMatchObject({ status: "False", reason, message });
  expect((await operated.service("tenant/web")).status?.workloadRef).toMatchObject({ resolved: false });
}); // prettier-ignore

test("a Deployment that an older service has taken over is not reported as patched by the younger one", async () => {
  await using started = await startPatching([account(), deployment(), latticeService("shop/older")]);
  const { operated } = started;
  await operated.apply(patching());
  await operated.live(6_000, 500);
  await operated.apply(patching({}, "shop/older"));
  await operated.live(70_000, 1_000);
  expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ status: "False", reason: "WorkloadClaimed" });
  expect(await operated.condition("shop/older", "WorkloadPatched")).toMatchObject({ status: "True" });
});

test("a service with another error keeps its patch, and the condition and workloadRef report that", async () => {
  await using started = await startPatching([account(), deployment(), patching()]);
  const { operated } = started;
  await operated.apply(patching(broken));
  await operated.live(10_000, 500);
  expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "False" });
  expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ status: "True", reason: "Patched" });
  await operated.client.patch(
    operated.cluster.resource("LatticeService"),
    { namespace: "shop", name: "web" },
    { type: "merge", patch: { spec: { containers: { main: { variables: { LEVEL: "x" } } } } } },
  );
  await operated.live(10_000, 500);
  expect((await operated.service("shop/web")).status?.workloadRef).toMatchObject({ resolved: true, name: "nginx" });
});
