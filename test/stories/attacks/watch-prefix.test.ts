/** A reader tries to write through the deprecated `/watch/` paths, which RBAC authorizes as `watch`. */
import { expect, test, vi } from "vitest";
import { startMeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";

const READER = "reader-token";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const DEPLOYMENTS = "namespaces/default/deployments";
const body = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "attack" },
  spec: {
    selector: { matchLabels: { app: "attack" } },
    template: {
      metadata: { labels: { app: "attack" } },
      spec: { containers: [{ name: "c", image: "x", securityContext: { privileged: true } }] },
    },
  },
};

test("a user with ClusterRole view writes nothing below /watch/: every method but GET is 405", { timeout: 60_000 }, async () => {
  await using server = await startMeasuredApiServer({ tokens: [`${READER},reader,reader`] });
  const { exchange, url } = server;
  const binding = {
    metadata: { name: "reader" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "reader" }],
  };
  expect(await exchange.request({ method: "POST", path: `${RBAC}/clusterrolebindings`, body: binding })).toMatchObject({ code: 201 });
  expect(await exchange.request({ method: "POST", path: `/apis/apps/v1/${DEPLOYMENTS}`, body })).toMatchObject({ code: 201 });

  const asReader = async (method: string, path: string, type = "application/json") => {
    const headers = { authorization: `Bearer ${READER}`, "content-type": type };
    const payload = method === "GET" || method === "HEAD" || method === "DELETE" ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, { method, headers, ...payload });
    await answer.text();
    return answer.status;
  };
  // the rules of ClusterRole view are aggregated by a controller
  await vi.waitUntil(async () => (await asReader("GET", `/apis/apps/v1/${DEPLOYMENTS}`)) === 200, { timeout: 20_000 });
  const attempts = [
    ["POST", DEPLOYMENTS],
    ["PUT", `${DEPLOYMENTS}/attack`],
    ["PATCH", `${DEPLOYMENTS}/attack`],
    ["DELETE", `${DEPLOYMENTS}/attack`],
    ["DELETE", DEPLOYMENTS],
    ["HEAD", DEPLOYMENTS],
  ] as const;
  for (const [method, path] of attempts) {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    expect([method, await asReader(method, `/apis/apps/v1/watch/${path}`, type)]).toEqual([method, 405]);
    // "watch" behind the prefix is the plural of a resource that the reader has no rights on
    expect([method, await asReader(method, `/apis/apps/v1/watch/watch/${path}`, type)]).toEqual([method, 403]);
  }
  expect(await exchange.request({ method: "POST", path: "/apis/apps/v1/watch/watch/deployments", body })).toMatchObject({ code: 404 });
  expect(await exchange.request({ method: "GET", path: `/apis/apps/v1/${DEPLOYMENTS}/attack` })).toMatchObject({
    code: 200,
    body: { metadata: { generation: 1 } },
  });
  await server.process.expectWithinLimits("writes below /watch/");
});
