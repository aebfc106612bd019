import { describe, expect, test } from "vitest";
import { checkBodySize, checkObjectSize, isLarge, MAX_DEFINITION_PARTS, MAX_PARTS, MAX_YAML_BYTES, MAX_YAML_LINES } from "./body-parts.ts";
import type { ApiRequest } from "../protocol/request.ts";

const MAPS = "/configmaps";
const DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions";
const YAML = "application/apply-patch+yaml";

function request(body: ApiRequest["body"], type = "application/json"): ApiRequest {
  const user = { name: "admin", uid: "", groups: [] };
  return { method: "POST", path: "/", query: new URLSearchParams(), headers: { "content-type": type }, body, user };
}

const list = (count: number, item = "1111") => `{"a":[${Array.from({ length: count }, () => item).join(",")}]}`;
const refused = (message: string) => ({ ok: false, error: { code: 413, message: `Request entity too large: ${message}` } });

describe("a body with too many fields and items is rejected before it is parsed:", () => {
  test.each([
    {
      name: "JSON",
      body: list(MAX_PARTS),
      type: "application/json",
      collection: MAPS,
      message: `the body has more than ${MAX_PARTS} fields and items`,
    },
    {
      name: "bytes",
      body: Buffer.from(list(MAX_PARTS)),
      type: "application/json",
      collection: MAPS,
      message: `the body has more than ${MAX_PARTS} fields and items`,
    },
    {
      name: "a definition",
      body: list(MAX_DEFINITION_PARTS),
      type: "application/json",
      collection: DEFINITIONS,
      message: `the body has more than ${MAX_DEFINITION_PARTS} fields and items`,
    },
    {
      name: "lines of YAML",
      body: "a: b\n".repeat(MAX_YAML_LINES + 1),
      type: YAML,
      collection: MAPS,
      message: `the body has more than ${MAX_YAML_LINES} lines of YAML`,
    },
    {
      name: "long YAML",
      body: `a: ${"b".repeat(MAX_YAML_BYTES)}`,
      type: YAML,
      collection: MAPS,
      message: `limit of YAML is ${MAX_YAML_BYTES}`,
    },
  ])("$name", ({ body, type, collection, message }) => {
    expect(checkBodySize(request(body, type), collection)).toMatchObject(refused(message));
  });
});

describe("a body is accepted if", () => {
  test.each([
    {
      name: "it is one long text",
      body: `{"a":"${',{["\\\\'.replaceAll('"', '\\"').repeat(MAX_PARTS)}"}`,
      type: "application/json",
      collection: MAPS,
    },
    { name: "it has exactly the allowed number of parts", body: list(MAX_PARTS - 2), type: "application/json", collection: MAPS },
    { name: "it is a JSON patch", body: list(MAX_PARTS), type: "application/json-patch+json", collection: MAPS },
    { name: "it is a definition", body: list(MAX_PARTS), type: "application/json", collection: DEFINITIONS },
    { name: "it is JSON with the media type of YAML", body: `{"a":"${"b".repeat(MAX_YAML_BYTES)}"}`, type: YAML, collection: MAPS },
    {
      name: "it is protobuf, which is counted later",
      body: list(MAX_PARTS),
      type: "application/vnd.kubernetes.protobuf",
      collection: MAPS,
    },
    { name: "it is absent", body: undefined, type: "application/json", collection: MAPS },
    { name: "it comes from this process", body: { value: [] }, type: "application/json", collection: MAPS },
  ])("$name", ({ body, type, collection }) => {
    expect(checkBodySize(request(body, type), collection)).toEqual({ ok: true, value: undefined });
  });
});

test("an object may have as many parts as a body; those of managedFields do not count", () => {
  const object = (count: number, managed: number) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", managedFields: Array.from({ length: managed }, () => ({})) },
    data: Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, "v"])),
  });
  expect(checkObjectSize(object(MAX_PARTS - 10, MAX_PARTS), MAPS).ok).toBe(true);
  expect(checkObjectSize(object(MAX_PARTS, 0), MAPS)).toMatchObject(
    refused(`the object would have more than ${MAX_PARTS} fields and items`),
  );
});

test("a body of more than 64 KiB is processed in several turns", () => {
  expect(
    [undefined, { value: [] }, "x".repeat(65_536), "x".repeat(65_537), Buffer.alloc(65_537)].map((body) => isLarge(request(body))),
  ).toEqual([false, false, false, true, true]);
});
