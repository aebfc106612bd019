/** Printer columns of a CustomResourceDefinition whose JSONPath multiplies its matches: the work for a Table is bounded. */
import { expect, test } from "vitest";
import type { Json } from "#kube";
import { startMeasuredApiServer, type MeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";
import { TOKEN } from "../../builders/api-server/server-process.ts";

const DEEPS = "/apis/x.dev/v1/namespaces/default/deeps";

type Column = { readonly name: string; readonly jsonPath: string };

async function define(server: MeasuredApiServer, columns: readonly Column[]): Promise<void> {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const additionalPrinterColumns = columns.map((column) => ({ ...column, type: "string" }));
  const versions = [{ name: "v1", served: true, storage: true, schema, additionalPrinterColumns }];
  const names = { plural: "deeps", kind: "Deep" };
  const body = { metadata: { name: "deeps.x.dev" }, spec: { group: "x.dev", scope: "Namespaced", names, versions } };
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  expect(await server.exchange.request({ method: "POST", path, body })).toMatchObject({ code: 201 });
}

const create = (server: MeasuredApiServer, name: string, spec: Json) =>
  server.exchange.request({ method: "POST", path: DEEPS, body: { apiVersion: "x.dev/v1", kind: "Deep", metadata: { name }, spec } });

async function table(server: MeasuredApiServer): Promise<{ readonly rows: readonly { readonly cells: readonly Json[] }[] }> {
  const headers = { authorization: `Bearer ${TOKEN}`, accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
  const answer = await fetch(new URL(DEEPS, server.url), { headers });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { readonly rows: readonly { readonly cells: readonly Json[] }[] };
}

test("columns with repeated recursive descent into a deep object are bounded, and simple columns beside them are shown", async () => {
  await using server = await startMeasuredApiServer({ controllers: false });
  let deep: Json = "bottom";
  for (let depth = 0; depth < 60; depth += 1) deep = { a: deep };
  await define(server, [
    { name: "First", jsonPath: ".spec.first" },
    { name: "Deep", jsonPath: "..a..a..a..a..a..a..a" },
    { name: "Deeper", jsonPath: ".............." },
  ]);
  for (let at = 0; at < 20; at += 1) expect(await create(server, `d${at}`, { first: `first-${at}`, deep })).toMatchObject({ code: 201 });
  const { rows } = await table(server);
  expect(rows.map(({ cells }) => cells[1])).toContain("first-7");
  expect(rows).toHaveLength(20);
  await server.process.expectWithinLimits("printer columns with recursive descent");
});

test("the total size of columns that show the whole object is limited", async () => {
  await using server = await startMeasuredApiServer({ controllers: false });
  await define(
    server,
    Array.from({ length: 5_000 }, (_, at) => ({ name: `c${at}`, jsonPath: ".spec" })),
  );
  for (let at = 0; at < 10; at += 1) expect(await create(server, `d${at}`, { text: "x".repeat(100_000) })).toMatchObject({ code: 201 });
  const { rows } = await table(server);
  expect(rows).toHaveLength(10);
  await server.process.expectWithinLimits("printer columns that show everything");
});
