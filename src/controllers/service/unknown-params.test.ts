/** In a cluster: a typing error in an inbound declaration removes the rule that it allowed, and the status gives the reason. */
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

test("an edge that both sides declare is allowed", async () => {
  expect((await operated.service("shop/api")).status?.phase).toBe("Ready");
  expect(await rules()).toContain('"k8s:lattice.dev/service":"api"');
});

test("the callee's policy no longer allows the caller once the declaration cannot be parsed, and the condition names the field", async () => {
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
