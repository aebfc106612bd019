/** A mutating webhook that patches metadata owned by the server on every write: the objects are not deleted by it, and can be deleted. */
import { expect, test } from "vitest";
import { fieldAt, type JsonObject } from "#kube";
import { startHookHost, type Review } from "../../contracts/client/hook-host.ts";
import type { Exchange, ExchangeResponse } from "../../builders/api-server/exchange.ts";
import { startMeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";

const REGISTRATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const LONG_AGO = "2001-01-01T00:00:00Z";
const CHOSEN: JsonObject = {
  deletionTimestamp: LONG_AGO,
  deletionGracePeriodSeconds: 3_600,
  uid: "chosen",
  creationTimestamp: LONG_AGO,
  selfLink: "/x",
};
const OBJECTS = 50;

test("a webhook can neither start a deletion nor change the identity of an object", { timeout: 60_000 }, async () => {
  const hooks = await startHookHost();
  await using server = await startMeasuredApiServer({ controllers: false });
  const { exchange } = server;
  const hook = hooks.add(respondWith(CHOSEN));
  await register(exchange, hook.clientConfig);
  for (let at = 0; at < OBJECTS; at += 1) {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `c${at}` } };
    const made = at % 2 === 0 ? await send(exchange, "POST", CONFIG_MAPS, body) : await send(exchange, "PATCH", applyPath(at), body);
    expect(made.code).toBe(201);
    const metadata = fieldAt(made.body, "metadata") as JsonObject;
    for (const [name, chosen] of Object.entries(CHOSEN)) expect(metadata[name], name).not.toEqual(chosen);
    expect(metadata["deletionTimestamp"]).toBeUndefined();
    const changed = await send(exchange, "PUT", `${CONFIG_MAPS}/c${at}`, { ...body, data: { x: "1" } });
    expect(changed).toMatchObject({ code: 422, body: { reason: "Invalid" } });
    expect((await send(exchange, "DELETE", `${CONFIG_MAPS}/c${at}`)).code).toBe(200);
    expect((await send(exchange, "GET", `${CONFIG_MAPS}/c${at}`)).code).toBe(404);
  }
  expect(hook.calls.length).toBeGreaterThanOrEqual(2 * OBJECTS);
  await server.process.expectWithinLimits("metadata from a webhook");
  await hooks.close();
});

const applyPath = (at: number) => `${CONFIG_MAPS}/c${at}?fieldManager=m`;

function respondWith(metadata: JsonObject): (review: Review) => JsonObject {
  const operations = Object.entries(metadata).map(([name, value]) => ({ op: "add", path: `/metadata/${name}`, value: value ?? null }));
  const patch = Buffer.from(JSON.stringify(operations)).toString("base64");
  return ({ apiVersion, kind, request }) => {
    const response = { uid: request["uid"] ?? "", allowed: true, patchType: "JSONPatch", patch };
    return { apiVersion, kind, response };
  };
}

async function register(exchange: Exchange, clientConfig: JsonObject): Promise<void> {
  const webhook = {
    name: "hook.attack.test",
    clientConfig,
    rules: [{ operations: ["CREATE", "UPDATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
  const made = await send(exchange, "POST", REGISTRATIONS, { metadata: { name: "hooks" }, webhooks: [webhook] });
  expect(made.code).toBe(201);
}

async function send(exchange: Exchange, method: string, path: string, body?: JsonObject): Promise<ExchangeResponse> {
  const type = method === "PATCH" ? "application/apply-patch+yaml" : "application/json";
  const answer = await exchange.request({ method, path, body, type });
  if (answer === "in doubt") throw new Error(`no answer to ${method} ${path}`);
  return answer;
}
