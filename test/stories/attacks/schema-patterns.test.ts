/** Patterns of a definition that are costly on long texts: the object is rejected, and the server stays responsive. */
import { expect, test } from "vitest";
import { startMeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";

const pattern = { type: "string", pattern: "(.*a){20}$" };
const definition = {
  metadata: { name: "texts.x.dev" },
  spec: {
    group: "x.dev",
    scope: "Namespaced",
    names: { plural: "texts", kind: "Text" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { one: pattern, many: { type: "array", items: pattern } } } },
      },
    ],
  },
};

test("a pattern on a long text, or on many texts, does not stall the server", { timeout: 60_000 }, async () => {
  await using server = await startMeasuredApiServer({ controllers: false });
  const { exchange } = server;
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  expect(await exchange.request({ method: "POST", path: definitions, body: definition })).toMatchObject({ code: 201 });
  const send = (name: string, fields: object) =>
    exchange.request({
      method: "POST",
      path: "/apis/x.dev/v1/namespaces/default/texts",
      body: { apiVersion: "x.dev/v1", kind: "Text", metadata: { name }, ...fields },
    });
  expect(await send("short", { one: "a".repeat(20) })).toMatchObject({ code: 201 });
  for (const [name, fields] of [
    ["long", { one: "ab".repeat(700_000) }],
    ["many", { many: Array.from({ length: 2_000 }, () => "ab".repeat(250)) }],
  ] as const) {
    expect(await send(name, fields)).toMatchObject({
      code: 422,
      body: { message: expect.stringContaining("is too long for the patterns of its object") },
    });
  }
  await server.process.expectWithinLimits("costly patterns of a definition");
});
