/** Selectors with thousands of requirements, over thousands of objects, in lists, watches and bodies. */
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startMeasuredApiServer, type MeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";
import { fieldAt } from "#kube";
import { IN_DOUBT } from "../../builders/api-server/exchange.ts";
import { TOKEN } from "../../builders/api-server/server-process.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const OBJECTS = 3_000;
const list = (count: number, term: (name: string) => string) => Array.from({ length: count }, (_, at) => term(at.toString(36))).join(",");
const absent = (count: number) => `labelSelector=${list(count, (name) => `!k${name}`)}`;

let server: MeasuredApiServer;

beforeAll(async () => {
  server = await startMeasuredApiServer({ controllers: false });
  const create = (at: number) =>
    server.exchange.request({ method: "POST", path: MAPS, body: { metadata: { name: `m${at}`, labels: { app: "x" } } } });
  for (let at = 0; at < OBJECTS; at += 50) await Promise.all(Array.from({ length: 50 }, (_, more) => create(at + more)));
  await server.process.reset();
}, 60_000);

afterAll(() => server[Symbol.asyncDispose]());

const selectors = [
  { name: "2,000 requirements", query: absent(2_000) },
  { name: "1,000 requirements for one label", query: `labelSelector=${list(1_000, (name) => `app!=${name}y`)}` },
  { name: "1,900 values", query: `labelSelector=app%20in%20(${list(1_900, (name) => name)})` },
  { name: "1,000 fields", query: `fieldSelector=${list(1_000, (name) => `metadata.name!=z${name}`)}` },
];

test.each([
  { query: absent(5_500), message: "labelSelector: has 5500 keys and values; must have at most 2000" },
  { query: `fieldSelector=${list(1_001, () => "metadata.name!=z")}`, message: "fieldSelector: has 1001 terms; must have at most 1000" },
])("a larger selector is rejected: $message", async ({ query, message }) => {
  expect(await server.exchange.request({ method: "GET", path: `${MAPS}?${query}` })).toMatchObject({
    code: 400,
    body: { message: expect.stringContaining(message) as string },
  });
});

test.each(selectors)("a list with $name responds within the limits", async ({ name, query }) => {
  await server.process.reset();
  const items: unknown = expect.objectContaining({ length: OBJECTS });
  expect(await server.exchange.request({ method: "GET", path: `${MAPS}?${query}` })).toMatchObject({ code: 200, body: { items } });
  await server.process.expectWithinLimits(`a list with ${name}`);
});

test("200 watches with 2,000 requirements each leave the server responsive", async () => {
  await server.process.reset();
  const headers = { authorization: `Bearer ${TOKEN}` };
  const listed = await server.exchange.request({ method: "GET", path: `${MAPS}?limit=1` });
  const version = listed === IN_DOUBT ? undefined : fieldAt(listed.body, "metadata", "resourceVersion");
  const path = `${MAPS}?watch=1&resourceVersion=${typeof version === "string" ? version : ""}&${absent(2_000)}`;
  const open = Array.from({ length: 200 }, () => {
    const sent = request(new URL(path, server.url), { headers }).on("error", () => {});
    const answered = new Promise<number>((resolve) => sent.once("response", (response) => resolve(response.resume().statusCode ?? 0)));
    sent.end();
    return { sent, answered };
  });
  expect(new Set(await Promise.all(open.map(({ answered }) => answered)))).toEqual(new Set([200]));
  for (let at = 0; at < 20; at += 1) {
    const body = { metadata: { labels: { at: String(at) } } };
    await server.exchange.request({ method: "PATCH", path: `${MAPS}/m${at}`, body, type: "application/merge-patch+json" });
  }
  for (const { sent } of open) sent.destroy();
  await server.process.expectWithinLimits("200 watches with 2,000 requirements");
});
