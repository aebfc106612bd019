/** In a cluster: an inbound declaration that turns into one with a typing error closes its edge, and the status says why. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";
import { serviceYaml } from "../../../test/builders/world.ts";

const api = (params: string) => serviceYaml("api", { spec: `  resources:\n    web: {direction: inbound, params: ${params}}\n` });

let operated: OperatedCluster;
beforeAll(async () => {
  operated = await OperatedCluster.start();
  await operated.applyYaml([serviceYaml("web", { calls: ["api"] }), api("{ports: [http]}")].join("---\n"));
  await operated.live(8_000, 500);
}, 60_000);
afterAll(() => operated[Symbol.asyncDispose]());

const rules = async () => JSON.stringify(await operated.read("CiliumNetworkPolicy", "shop/web"));

test("an agreed edge is open", async () => {
  expect((await operated.service("shop/api")).status?.phase).toBe("Ready");
  expect(await rules()).toContain('"k8s:lattice.dev/service":"api"');
});

test("the other side closes when the declaration cannot be understood any more, and the condition names the field", async () => {
  await operated.applyYaml(api("{prots: [http]}"));
  await operated.live(8_000, 500);
  const { status } = await operated.service("shop/api");
  expect(status).toMatchObject({
    phase: "Failed",
    message: expect.stringContaining('params.prots: unknown parameter; did you mean "ports"? (at spec.resources.web)') as string,
  });
  expect(await rules()).not.toContain('"k8s:lattice.dev/service":"api"');
  expect((await operated.service("shop/web")).status?.phase).toBe("Ready");
});
