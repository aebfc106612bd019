/** In a cluster: the namespace of a gateway or of monitoring gets no default deny, and the condition gives the reason. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { latticeEnvironments } from "#crds";
import { expectOk } from "#base";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";
import { serviceYaml } from "../../../test/builders/world.ts";

const environment = (name: string, spec: string) =>
  `apiVersion: lattice.dev/v1alpha1\nkind: LatticeEnvironment\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

let operated: OperatedCluster;
beforeAll(async () => {
  const settings = { gateway: { namespace: "edge", name: "gw" }, monitoring: "metrics" };
  operated = await OperatedCluster.start({ settings });
  await operated.applyYaml(serviceYaml("team/api"));
  await operated.live(5_000, 500);
  const late = [
    environment("prod", "{gatewayRef: {name: gw, namespace: prod-edge}}"),
    environment("bad", "{namespace: metrics}"),
    environment("opening", "{gatewayRef: {name: gw, namespace: team}}"),
  ];
  await operated.applyYaml(late.join("---\n"));
  await operated.live(5_000, 500);
  await operated.applyYaml(
    ["edge", "metrics", "prod-edge", "istio-ingress"].map((namespace) => serviceYaml(`${namespace}/api`)).join("---\n"),
  );
  await operated.live(10_000, 500);
}, 60_000);
afterAll(() => operated[Symbol.asyncDispose]());

const closed = async (namespace: string) => [
  ...(await operated.names("CiliumNetworkPolicy", namespace)),
  ...(await operated.names("AuthorizationPolicy", namespace)),
];

describe("a service in a reserved namespace", () => {
  const rows = [
    { namespace: "edge", why: "the gateway of all services is in it (--gateway)" },
    { namespace: "metrics", why: "metrics are scraped from it (--monitoring-namespace)" },
    { namespace: "prod-edge", why: "the gateway of LatticeEnvironment prod is in it (spec.gatewayRef)" },
    { namespace: "istio-ingress", why: "namespace istio-ingress is a system namespace, which Lattice never changes" },
  ];
  test.each(rows)("$namespace is rejected, and the namespace gets no default deny", async ({ namespace, why }) => {
    const { status } = await operated.service(`${namespace}/api`);
    expect(status).toMatchObject({ phase: "Failed", message: expect.stringContaining(why) as string });
    expect(await operated.condition(`${namespace}/api`, "Ready")).toMatchObject({ status: "False", reason: "CompileError" });
    expect(await closed(namespace)).toEqual([]);
    expect(await operated.names("Deployment", namespace)).toEqual([]);
  });
});

describe("an environment", () => {
  const statusOf = async (name: string) => expectOk(await operated.client.get(latticeEnvironments, { name })).status;

  test("in a reserved namespace is rejected with the reason", async () => {
    const status = await statusOf("bad");
    expect(status).toMatchObject({
      phase: "Failed",
      message: expect.stringContaining("namespace metrics cannot be closed: metrics are scraped") as string,
    });
    expect(status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({ status: "False", reason: "NamespaceReserved" });
  });

  test("with a gatewayRef to a namespace where services run reports it, and the namespace keeps its default deny", async () => {
    const status = await statusOf("opening");
    const message = "spec.gatewayRef.namespace: namespace team is closed by default, because LatticeService team/api runs in it";
    expect(status).toMatchObject({ phase: "Failed", message: expect.stringContaining(message) as string });
    expect(status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({ status: "False", reason: "GatewayNamespaceTaken" });
    expect(await closed("team")).toContain("lattice-default-deny");
    expect(await closed("opening")).toContain("lattice-default-deny");
    expect((await operated.service("team/api")).status?.phase).toBe("Ready");
  });
});
