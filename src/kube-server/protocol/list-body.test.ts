/** A list serialized in parts equals the list serialized as a whole. */
import { describe, expect, test } from "vitest";
import { formatGoYaml } from "./go-yaml.ts";
import { jsonBody, yamlBody, type ListParts } from "./list-body.ts";
import { RecentTexts } from "./recent-texts.ts";

const object = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { "a/b": "line\nbreak" } }, data: {} });
const head = { kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: "7" } };

describe.each([
  { name: "no objects", objects: [] },
  { name: "one object", objects: [object("a")] },
  { name: "many objects", objects: ["a", "b", "c"].map(object) },
])("$name:", ({ objects }) => {
  const items = (remembered?: RecentTexts): ListParts => ({
    head,
    name: "items",
    objects,
    partOf: (one) => ({ metadata: one.metadata }),
    remembered,
  });
  const rows: ListParts = { head: { ...head, columnDefinitions: [] }, name: "rows", objects, partOf: (one) => ({ cells: [one.kind] }) };
  const textOf = (body: ReturnType<typeof jsonBody>) => ("texts" in body ? [...(body.texts?.() ?? [])].join("") : "");

  test.each([
    { name: "items", parts: items() },
    { name: "cached items", parts: items(new RecentTexts()) },
    { name: "rows", parts: rows },
  ])("$name", ({ parts }) => {
    const [plain, pretty, yaml] = [jsonBody(parts, false), jsonBody(parts, true), yamlBody(parts)];
    const value = plain.kind === "json" ? plain.value : undefined;
    expect(textOf(plain)).toBe(`${JSON.stringify(value)}\n`);
    expect(textOf(pretty)).toBe(JSON.stringify(value, null, 2));
    expect(textOf(yaml)).toBe(formatGoYaml(value));
    expect(yaml.kind === "text" && yaml.text).toBe(formatGoYaml(value));
  });
});
