/** A tenant's service in the namespace of a gateway or of monitoring: a default deny there would block every route, or all metrics. */
import { expect, test } from "vitest";
import { fieldAt, type KubeObject } from "#kube";
import { MeasuredOperator } from "../../builders/attacks/measured-operator.ts";

const API = "lattice.dev/v1alpha1";
const RESERVED = ["edge", "metrics", "istio-ingress", "prod-edge"] as const;

function service(key: string): KubeObject {
  const [namespace = "", name = ""] = key.split("/");
  const spec = { containers: { main: { image: "myapp:v1" } }, service: { ports: { http: { port: 80 } } } };
  return { apiVersion: API, kind: "LatticeService", metadata: { name, namespace }, spec } as unknown as KubeObject;
}

test("no service closes the namespace of a gateway or of monitoring, and a gatewayRef opens none", { timeout: 120_000 }, async () => {
  await using operator = await MeasuredOperator.prepare(["--gateway", "edge/gw", "--monitoring-namespace", "metrics"]);
  for (const name of [...RESERVED, "shop"])
    await operator.create("", "namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const environment = (name: string, namespace: string): KubeObject => {
    const spec = { gatewayRef: { name: "gw", namespace } };
    return { apiVersion: API, kind: "LatticeEnvironment", metadata: { name }, spec } as unknown as KubeObject;
  };
  await operator.create(API, "latticeenvironments", environment("prod", "prod-edge"));
  await operator.createServices(service("shop/api"), ...RESERVED.map((namespace) => service(`${namespace}/api`)));
  await operator.start();
  await operator.until("/apis/apps/v1/namespaces/shop/deployments/api", (body) => fieldAt(body, "kind") === "Deployment");
  // the service of the shop is a second older than this environment
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await operator.create(API, "latticeenvironments", environment("opening", "shop"));
  for (const namespace of RESERVED) await operator.untilPhase(`${namespace}/api`, "Failed");
  const opening = await operator.until(`/apis/${API}/latticeenvironments/opening`, (body) => fieldAt(body, "status", "phase") === "Failed");
  expect(fieldAt(opening, "status", "message")).toContain(
    "namespace shop is closed by default, because LatticeService shop/api runs in it",
  );
  for (const [path, kind] of [
    ["/apis/cilium.io/v2/ciliumnetworkpolicies", "CiliumNetworkPolicy"],
    ["/apis/security.istio.io/v1/authorizationpolicies", "AuthorizationPolicy"],
  ] as const) {
    const items = fieldAt(await operator.get(path), "items");
    const namespaces = (Array.isArray(items) ? items : []).map((item) => fieldAt(item, "metadata", "namespace"));
    expect(new Set(namespaces), kind).toEqual(new Set(["opening", "prod", "shop"]));
  }
  await operator.process.expectWithinLimits("services in the namespaces of gateways");
});
