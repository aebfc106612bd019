/** The status of a service lists each dependency that is not allowed: what is missing, and on which side. */
import { expect, test } from "vitest";
import { calls, externalService, isCalledBy, latticeService } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

test("a dependency that is not allowed is a condition, a status entry and an event, and the service is Ready anyway", async () => {
  const stripe = externalService("shop/stripe", { endpoints: { api: "https://api.stripe.com" } });
  const resources = { ...calls("catalog"), stripe: { type: "external-service" } };
  await using operated = await OperatedCluster.start({
    objects: [latticeService("shop/catalog"), stripe, latticeService("shop/cart", { resources })],
  });
  const catalog =
    "shop/catalog has not agreed; add spec.resources.cart: {type: service, direction: inbound} to LatticeService shop/catalog";
  const { status } = await operated.service("shop/cart");
  expect(status?.closedDependencies).toEqual({
    catalog,
    stripe: "shop/stripe has not agreed; add cart to spec.allowedRequesters of LatticeExternalService shop/stripe",
  });
  expect(await operated.condition("shop/cart", "DependenciesOpen")).toMatchObject({
    status: "False",
    reason: "DependenciesClosed",
    message: expect.stringMatching(/^2 dependencies are closed: catalog: shop\/catalog has not agreed; add .*\nstripe: /) as string,
  });
  expect(await operated.condition("shop/cart", "Ready")).toMatchObject({ status: "True" });
  expect((await operated.events()).map(({ reason, note }) => `${reason} ${note}`)).toContainEqual(
    expect.stringContaining(`DependenciesClosed 2 dependencies are closed: catalog: ${catalog}`),
  );
});

test("it is allowed once the other side agrees, and services without this edge are not written", async () => {
  const cart = latticeService("shop/cart", { resources: calls("catalog") });
  await using operated = await OperatedCluster.start({ objects: [latticeService("shop/catalog"), cart, latticeService("shop/bystander")] });
  const version = async (key: string) => (await operated.service(key)).metadata.resourceVersion;
  expect(await operated.condition("shop/cart", "DependenciesOpen")).toMatchObject({ status: "False" });
  expect(await operated.condition("shop/bystander", "DependenciesOpen")).toMatchObject({ status: "True", reason: "AllOpen" });
  await operated.live(5_000);
  const bystander = await version("shop/bystander");
  await operated.apply(latticeService("shop/catalog", { resources: isCalledBy("cart") }));
  await operated.live(2_000);
  expect(await operated.condition("shop/cart", "DependenciesOpen")).toMatchObject({ status: "True", message: "1 dependency is open" });
  expect((await operated.service("shop/cart")).status).not.toHaveProperty("closedDependencies");
  expect((await operated.events()).map(({ reason }) => reason)).toContain("AllOpen");
  expect(await version("shop/bystander")).toBe(bystander);
});

test("a failing service lists its dependencies that are not allowed, and never a secret", async () => {
  const resources = { ...calls("catalog"), odd: { type: "teleport" }, db: { type: "postgres", params: { port: "${config.nowhere}" } } };
  await using operated = await OperatedCluster.start({ objects: [latticeService("shop/cart", { resources })] });
  expect((await operated.service("shop/cart")).status).toMatchObject({
    phase: "Failed",
    closedDependencies: {
      catalog:
        "there is no LatticeService shop/catalog; create it with spec.resources.cart: {type: service, direction: inbound}, or correct spec.resources.catalog.id",
      odd: "spec.resources.odd has an error; see the condition TemplatesResolved",
      db: "spec.resources.db has an error; see the condition TemplatesResolved",
    },
  });
});
