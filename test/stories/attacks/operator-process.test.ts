/**
 * Attacks on rights and on the mesh, against the operator and the API server as processes: the objects in the cluster show that each is
 * rejected or reverted, and the operator is measured. The detailed stories of each attack run in process (see README.md).
 */
import { expect, test } from "vitest";
import { fieldAt, isJsonObject, type Json, type KubeObject } from "#kube";
import { DataPlane } from "#mesh-compiler";
import { MeasuredOperator } from "../../builders/attacks/measured-operator.ts";
import { calls, isCalledBy, latticeService, withVariables } from "../../builders/lattice-objects.ts";

const API = "lattice.dev/v1alpha1";
const COLLECTIONS = [
  "/api/v1/namespaces",
  "/api/v1/services",
  "/apis/apps/v1/deployments",
  "/apis/cilium.io/v2/ciliumnetworkpolicies",
  "/apis/security.istio.io/v1/authorizationpolicies",
  "/apis/gateway.networking.k8s.io/v1/gateways",
];

const service = (key: string, spec: Readonly<Record<string, unknown>>) => latticeService(key, spec) as unknown as KubeObject;

/** Items of a list of a built-in kind have no kind field. */
async function objects(operator: MeasuredOperator, path: string): Promise<readonly KubeObject[]> {
  const list = await operator.get(path);
  const listed = fieldAt(list, "kind");
  const kind = typeof listed === "string" ? listed.replace(/List$/, "") : "";
  const items = fieldAt(list, "items");
  return (Array.isArray(items) ? items : []).filter(isJsonObject).map((item) => ({ kind, ...item }) as unknown as KubeObject);
}

async function isOpen(operator: MeasuredOperator, from: string, to: string): Promise<boolean | undefined> {
  const all = await Promise.all(COLLECTIONS.map((path) => objects(operator, path)));
  return new DataPlane(all.flat()).ask({ from, to, port: 8080 })?.open;
}

async function untilOpen(operator: MeasuredOperator, edge: readonly [string, string], open: boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while ((await isOpen(operator, ...edge)) !== open) {
    if (performance.now() > deadline) throw new Error(`${edge.join(" -> ")} is not ${open ? "open" : "closed"} after 30 s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const merge = async (operator: MeasuredOperator, path: string, body: object) => {
  const answer = await operator.server.exchange.request({
    method: "PATCH",
    path,
    body: body as Json,
    type: "application/merge-patch+json",
  });
  expect(answer, path).toMatchObject({ code: 200 });
};

const HOSTILE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  privileged: { containers: { main: { image: "app:1", securityContext: { privileged: true } } } },
  secret: { containers: { main: { image: "app:1", volumes: { "/x": { source: "secret:payroll" } } } } },
  host: { resources: { web: { type: "route", params: { host: "shop.example.com", path: "/login", port: 8080 } } } },
  wildcard: { resources: { web: { type: "route", params: { host: "*.example.com", port: 8080 } } } },
  egress: { resources: { db: { type: "redis", id: "kube-system/x" } } },
  typo: { resources: { caller: { direction: "inbound", params: { prots: ["http"] } } } },
};

test("a tenant's attacks are rejected, additive edits are reverted, and revocations take effect", { timeout: 180_000 }, async () => {
  await using operator = await MeasuredOperator.prepare([]);
  await operator.create("", "namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const payroll = { apiVersion: "v1", kind: "Secret", metadata: { name: "payroll", namespace: "shop" }, data: { a: "Yg==" } };
  await operator.create("", "secrets", payroll);
  await operator.createServices(
    service("shop/caller", { resources: calls("callee") }),
    service("shop/callee", { resources: isCalledBy("caller") }),
    ...Object.entries(HOSTILE).map(([name, spec]) => service(`shop/${name}`, spec)),
  );
  await operator.start();
  const edge = ["shop/caller", "shop/callee"] as const;
  await untilOpen(operator, edge, true);
  for (const name of Object.keys(HOSTILE)) await operator.untilPhase(`shop/${name}`, "Failed");
  const made = await objects(operator, "/apis/apps/v1/namespaces/shop/deployments");
  expect(made.map(({ metadata }) => metadata.name).toSorted()).toEqual(["callee", "caller"]);

  // a foreign rule that would allow everything is removed
  const stranger = ["shop/callee", "shop/caller"] as const;
  const policies = "/apis/security.istio.io/v1/namespaces/shop/authorizationpolicies";
  const cilium = "/apis/cilium.io/v2/namespaces/shop/ciliumnetworkpolicies";
  await merge(operator, `${policies}/lattice-default-deny`, { spec: { rules: [{}] } });
  await merge(operator, `${cilium}/lattice-default-deny`, { spec: { enableDefaultDeny: { ingress: false, egress: false } } });
  await operator.until(`${policies}/lattice-default-deny`, (body) => fieldAt(body, "spec", "rules") === undefined);
  await operator.until(`${cilium}/lattice-default-deny`, (body) => fieldAt(body, "spec", "enableDefaultDeny") === undefined);
  expect(await isOpen(operator, ...stranger)).toBe(false);

  // the callee fails from now on, and the same change revokes its caller
  const failing = {
    resources: { caller: null, db: { type: "postgres", id: "main" } },
    ...withVariables({ URL: "${resources.db.password}" }),
  };
  await merge(operator, `/apis/${API}/namespaces/shop/latticeservices/callee`, { spec: failing });
  await untilOpen(operator, edge, false);
  await operator.untilPhase("shop/callee", "Failed");
  await operator.process.expectWithinLimits("a tenant, additive edits and a revocation");
});
