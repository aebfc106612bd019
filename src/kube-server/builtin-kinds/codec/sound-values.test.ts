import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { builtinDefinitionNameOf } from "#patch";
import { readClosely, readGoValue } from "./go-json.ts";
import { goTypeOf } from "./go-types.ts";
import { soundValue, UNSOUND } from "./sound-values.ts";

type Samples = { readonly samples: readonly { readonly type: string; readonly body: JsonObject }[] };

const { samples } = JSON.parse(readFileSync(new URL("../generated/recorded-creates.json", import.meta.url), "utf8")) as Samples;
const deployment = goTypeOf("io.k8s.api.apps.v1.Deployment");

function definitionOf(body: JsonObject): string {
  const { apiVersion = "", kind = "" } = body as { readonly apiVersion?: string; readonly kind?: string };
  const slash = apiVersion.indexOf("/");
  return builtinDefinitionNameOf({ group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1), kind }) ?? "";
}

/** One place of a value, and what is put there: something else, or nothing. */
function* broken(value: Json, by: readonly Json[]): Generator<Json> {
  yield* by;
  if (Array.isArray(value)) {
    for (const [index, item] of (value as readonly Json[]).entries())
      for (const other of broken(item, by)) yield value.map((kept: Json, at) => (at === index ? other : kept));
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [name, item] of Object.entries(value)) {
    const { [name]: _, ...without } = value;
    yield without;
    for (const other of broken(item ?? null, by)) yield { ...value, [name]: other };
  }
}

describe("the quick way and the long way", () => {
  const kinds = samples.filter(({ body }) => definitionOf(body) !== "").map((row, index) => ({ ...row, index }));
  it.each(kinds)("agree about $type $index and broken copies of it", ({ body }) => {
    const type = goTypeOf(definitionOf(body));
    const replacements: readonly Json[] = [
      null,
      "",
      "x",
      0,
      -1,
      1.5,
      true,
      false,
      [],
      {},
      { "no-such-field": 1 },
      [null],
      "100m",
      "2024-01-01T00:00:00Z",
    ];
    for (const value of [body, ...broken(body, replacements)]) {
      const quick = soundValue(type, value);
      if (quick === UNSOUND) continue;
      expect(readClosely(type, value)).toEqual({ ok: true, value: { value: quick, findings: [] } });
      expect(JSON.stringify(quick)).toBe(JSON.stringify(expectValue(readClosely(type, value))));
    }
  });

  it("agree about any map of texts", () => {
    const type = goTypeOf("io.k8s.api.core.v1.ConfigMap");
    const data = fc.dictionary(fc.oneof(fc.string(), fc.constant("__proto__")), fc.string(), { noNullPrototype: true });
    fc.assert(
      fc.property(data, (given) => {
        const value = { data: given };
        expect(readGoValue(type, value)).toEqual(readClosely(type, value));
      }),
    );
  });
});

function expectValue(read: ReturnType<typeof readClosely>): JsonObject {
  if (!read.ok) throw new Error(read.error);
  return read.value.value;
}

describe("soundValue", () => {
  it("gives back what is written as Go writes it, itself", () => {
    const spec = {
      replicas: 2,
      selector: null,
      template: { metadata: {}, spec: { containers: [{ name: "a", image: "b", resources: {} }] } },
      strategy: {},
    };
    const value = { kind: "Deployment", apiVersion: "apps/v1", metadata: { name: "x" }, spec, status: {} };
    const sound = soundValue(deployment, value) as JsonObject;
    expect(sound["metadata"]).toBe(value.metadata);
    expect((sound["spec"] as JsonObject)["template"]).toBe(spec.template);
  });

  it("looks at nothing that is a part of what is known to be sound", () => {
    const metadata = { "no such field": true };
    expect(soundValue(deployment, { metadata })).toBe(UNSOUND);
    expect(soundValue(deployment, { metadata }, { metadata })).toMatchObject({ metadata });
  });

  it.each([
    { name: "an unknown field", value: { x: 1 } },
    { name: "a wrong type", value: { spec: { replicas: "2" } } },
    { name: "null in a list", value: { spec: { template: { spec: { containers: [null] } } } } },
    { name: "null in a map", value: { metadata: { labels: { a: null } } } },
    { name: "no object at all", value: "x" },
    { name: "a quantity that is none", value: { spec: { template: { spec: { overhead: { cpu: "x" } } } } } },
    { name: "a time that is none", value: { metadata: { creationTimestamp: "yesterday" } } },
  ])("leaves $name to the long way", ({ value }) => {
    expect(soundValue(deployment, value)).toBe(UNSOUND);
  });
});
