/** Requests with the maximum number of fields and items, and more: none of them blocks the event loop for long. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { request } from "node:http";
import { startMeasuredApiServer, type MeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";
import { TOKEN } from "../../builders/api-server/server-process.ts";

const many = (count: number, part: (at: number) => string) => Array.from({ length: count }, (_, at) => part(at)).join(",");
const keys = (count: number, name: string) => many(count, (at) => `"${name}${at}":"${at}"`);
const MAPS = "/api/v1/namespaces/default/configmaps";
const MERGE = "application/merge-patch+json";
const APPLY = "application/apply-patch+yaml";
const map = (name: string, data: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"data":{${data}}}`;
const definition = (fields: number) =>
  `{"metadata":{"name":"vs.x.dev"},"spec":{"group":"x.dev","scope":"Namespaced","names":{"plural":"vs","kind":"V"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{${many(fields, (at) => `"p${at}":{"type":"string"}`)}}}}}]}}`;

type Step = { readonly method: string; readonly path: string; readonly body?: string; readonly type?: string; readonly accept?: string };

let server: MeasuredApiServer;
beforeAll(async () => {
  server = await startMeasuredApiServer({ controllers: false });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => server.process.reset());

function send({ method, path, body, type = "application/json", accept = "application/json" }: Step): Promise<number> {
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    accept,
    "user-agent": "attack/1",
    ...(body === undefined ? {} : { "content-type": type }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, server.url), { method, headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    });
    sent.once("error", reject).end(body);
  });
}

describe("one object with the maximum number of fields", () => {
  const full = 30_000;
  const patch = 18_000;
  const steps: readonly (Step & { readonly name: string; readonly code: number })[] = [
    { name: "created", method: "POST", path: MAPS, body: map("x", keys(full, "k")), code: 201 },
    { name: "replaced", method: "PUT", path: `${MAPS}/x`, body: map("x", keys(full, "m")), code: 200 },
    { name: "merged beyond the limit", method: "PATCH", path: `${MAPS}/x`, body: `{"data":{${keys(patch, "z")}}}`, type: MERGE, code: 413 },
    {
      name: "merged slightly beyond the limit",
      method: "PATCH",
      path: `${MAPS}/x`,
      body: `{"data":{${keys(3_000, "z")}}}`,
      type: MERGE,
      code: 413,
    },
    { name: "applied", method: "PATCH", path: `${MAPS}/y?fieldManager=a`, body: map("y", keys(patch, "k")), type: APPLY, code: 201 },
    {
      name: "applied with conflicts",
      method: "PATCH",
      path: `${MAPS}/y?fieldManager=b`,
      body: map("y", keys(patch, "k").replaceAll(':"', ':"9')),
      type: APPLY,
      code: 409,
    },
    { name: "larger than that", method: "POST", path: MAPS, body: map("z", keys(60_000, "k")), code: 413 },
    { name: "nested too deeply", method: "POST", path: MAPS, body: `{"data":${"[".repeat(1_000_000)}`, code: 413 },
    {
      name: "in YAML",
      method: "POST",
      path: MAPS,
      body: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: w}\ndata:\n${many(full, (at) => `  k${at}: v\n`).replaceAll(",", "")}`,
      type: "application/yaml",
      code: 201,
    },
    {
      name: "a definition",
      method: "POST",
      path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      body: definition(19_500),
      code: 201,
    },
    { name: "the schema of that definition", method: "GET", path: "/openapi/v3/apis/x.dev/v1", code: 200 },
    {
      name: "with 19,000 errors",
      method: "POST",
      path: "/apis/certificates.k8s.io/v1/certificatesigningrequests",
      body: `{"metadata":{"name":"c"},"spec":{"signerName":"a.b/c","usages":[${many(19_000, (at) => `"u${at}"`)}]}}`,
      code: 422,
    },
    {
      name: "with 1,500 managers",
      method: "POST",
      path: MAPS,
      body: `{"metadata":{"name":"v","managedFields":[${many(1_500, (at) => `{"manager":"m${at}","operation":"Update","apiVersion":"v1","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k${at}":{}}}}`)}]},"data":{"a":"b"}}`,
      code: 201,
    },
  ];

  test.each(steps)("$name", async ({ name, code, ...step }) => {
    expect(await send(step)).toBe(code);
    await server.process.expectWithinLimits(`one large object, ${name}`);
  });
});

describe("a thousand objects of 40 KB", () => {
  const namespace = "/api/v1/namespaces/default/secrets";

  beforeAll(async () => {
    const body = (at: number) => `{"metadata":{"name":"s${at}","labels":{"a":"b"}},"stringData":{"text":"${"x".repeat(30_000)}"}}`;
    for (let at = 0; at < 1_000; at += 20)
      await Promise.all(Array.from({ length: 20 }, (_, more) => send({ method: "POST", path: namespace, body: body(at + more) })));
  }, 60_000);

  test.each([
    { name: "listed", step: { method: "GET", path: namespace } },
    { name: "listed with line breaks", step: { method: "GET", path: `${namespace}?pretty=true` } },
    {
      name: "listed as a Table",
      step: { method: "GET", path: `${namespace}?includeObject=Object`, accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
    },
    { name: "listed as YAML", step: { method: "GET", path: namespace, accept: "application/yaml" } },
    { name: "deleted", step: { method: "DELETE", path: namespace } },
  ])("$name", async ({ name, step }) => {
    expect(await send(step)).toBe(200);
    await server.process.expectWithinLimits(`a thousand objects, ${name}`);
  });
});
