/** JSON patches whose operations each shift, compare or copy a whole list, on a custom object with the maximum number of items. */
import { expect, test } from "vitest";
import type { Json, JsonObject } from "#kube";
import type { Exchange, ExchangeResponse } from "../../builders/api-server/exchange.ts";
import { startMeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";

const GROUP = "attack.test";
const THINGS = `/apis/${GROUP}/v1/namespaces/default/things`;
/** About the maximum of an object. */
const ITEMS = 18_000;
const MANY = 10_000;
const TOO_MUCH = "Request entity too large: The JSON patch shifts more than 20000000 list items";

const ATTACKS: readonly { readonly name: string; readonly operations: readonly JsonObject[]; readonly code: number }[] = [
  { name: "insertions at the front", operations: many({ op: "add", path: "/list/0", value: 1 }), code: 413 },
  { name: "removals at the front", operations: many({ op: "remove", path: "/list/0" }), code: 413 },
  { name: "moves to the front", operations: many({ op: "move", from: "/list/-1", path: "/list/0" }), code: 413 },
  { name: "copies to the front", operations: many({ op: "copy", from: "/list/1", path: "/list/0" }), code: 413 },
  { name: "copies of the list", operations: many({ op: "copy", from: "/list", path: "/other" }), code: 422 },
  { name: "comparisons with the list", operations: many({ op: "test", path: "/list", value: [1] }), code: 422 },
  { name: "a pointer with a million names", operations: [{ op: "add", path: "/a".repeat(1_000_000), value: 1 }], code: 422 },
];

test("a JSON patch cannot make the server shift a long list 10,000 times", { timeout: 120_000 }, async () => {
  await using server = await startMeasuredApiServer({ controllers: false });
  await makeThing(server.exchange);
  await server.process.reset();
  for (const { name, operations, code } of ATTACKS) {
    const answer = await patch(server.exchange, operations);
    expect(answer.code, name).toBe(code);
    if (code === 413) expect(answer.body["message"], name).toContain(TOO_MUCH);
    await server.process.expectWithinLimits(`JSON patch with ${name}`);
  }
});

function many(operation: JsonObject): readonly JsonObject[] {
  return Array.from({ length: MANY }, () => operation);
}

async function makeThing(exchange: Exchange): Promise<void> {
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }];
  const names = { plural: "things", kind: "Thing" };
  const definition = { metadata: { name: `things.${GROUP}` }, spec: { group: GROUP, scope: "Namespaced", names, versions } };
  expect((await send(exchange, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)).code).toBe(201);
  const thing = { apiVersion: `${GROUP}/v1`, kind: "Thing", metadata: { name: "a" }, list: Array.from({ length: ITEMS }, () => 1) };
  expect((await send(exchange, "POST", THINGS, { ...thing, list: Array.from({ length: 600_000 }, () => 1) })).code).toBe(413);
  expect((await send(exchange, "POST", THINGS, thing)).code).toBe(201);
}

function patch(exchange: Exchange, operations: readonly JsonObject[]): Promise<ExchangeResponse> {
  return send(exchange, "PATCH", `${THINGS}/a`, operations);
}

async function send(exchange: Exchange, method: string, path: string, body: Json): Promise<ExchangeResponse> {
  const type = method === "PATCH" ? "application/json-patch+json" : "application/json";
  const answer = await exchange.request({ method, path, body, type });
  if (answer === "in doubt") throw new Error(`no answer to ${method} ${path}`);
  return answer;
}
