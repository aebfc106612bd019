/** A served version for the REST layer: its names, the fields that a write may change, and its warnings. */
import { describe, expect, test } from "vitest";
import type { Json, JsonObject, KubeObject } from "#kube";
import { create, crdOf, crdWithVersions, GROUP, linesOf, typeOf, update, widget } from "../widget.test-support.ts";

const PLACE = { namespace: "default", resourceVersion: "1" };
const TEXTS = { type: "object", properties: { a: { type: "string" }, flag: { type: "boolean" } } };
const SCHEMA = { type: "object", properties: { spec: TEXTS, status: TEXTS } };
const withStatus = typeOf(
  crdOf(SCHEMA, { subresources: { status: {} }, selectableFields: [{ jsonPath: ".spec.a" }, { jsonPath: ".spec.flag" }] }),
);
const plain = typeOf(crdOf(SCHEMA));
const kube = (object: JsonObject): KubeObject => object as unknown as KubeObject;

function stored(result: ReturnType<typeof create>): JsonObject {
  if (result.status !== 200) throw new Error(linesOf(result).join("\n"));
  return result.object;
}

test("a type has the properties of its definition", () => {
  expect(withStatus).toMatchObject({
    resource: { group: GROUP, version: "v1", kind: "Widget", plural: "widgets", namespaced: true },
    singular: "widget",
    custom: true,
    collection: `${GROUP}/widgets`,
    strategicSchema: undefined,
    createOnUpdate: false,
    unconditionalUpdate: false,
    deletion: { answersObject: false, defaultPropagation: "Background" },
  });
  expect([...withStatus.subresources]).toEqual(["status"]);
  expect(withStatus.deletion.gracePeriodSeconds(kube(widget({})))).toBe(0);
  expect(withStatus.published).toMatchObject({ kind: "Widget", listKind: "WidgetList", schema: SCHEMA });
  expect(withStatus.typeSchema).toBe(withStatus.typeSchema);
});

test("versions that are not served have no type", () => {
  const crd = crdWithVersions([
    { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } },
    { name: "v2", served: false, storage: false, schema: { openAPIV3Schema: SCHEMA } },
  ]);
  expect(() => typeOf(crd, "v2")).toThrow("not served");
});

describe("with a status subresource", () => {
  const before = { ...widget({ a: "1" }, { status: { a: "s" } }) };
  test("a new object has no status", () => {
    expect(stored(create(withStatus, before))).not.toHaveProperty("status");
    expect(stored(create(plain, before))).toHaveProperty("status", { a: "s" });
  });
  test("a write to the object keeps the status", () => {
    expect(stored(update(withStatus, before, widget({ a: "2" }, { status: { a: "t" } })))).toMatchObject({
      spec: { a: "2" },
      status: { a: "s" },
    });
    expect(stored(update(withStatus, widget({}), widget({ a: "2" }, { status: { a: "t" } })))).not.toHaveProperty("status");
    expect(stored(update(plain, before, widget({ a: "2" }, { status: { a: "t" } })))).toMatchObject({ status: { a: "t" } });
  });
  test("a write to the status keeps everything except managedFields", () => {
    const managedFields = [{ manager: "m", operation: "Update", apiVersion: `${GROUP}/v1` }];
    const next = widget({ a: "2" }, { status: { a: "t" }, metadata: { name: "x", labels: { l: "1" }, managedFields } });
    expect(stored(update(withStatus, before, next, "status"))).toEqual({
      ...before,
      status: { a: "t" },
      metadata: { name: "x", ...PLACE, managedFields },
    });
  });
  test("a status can be removed", () => {
    expect(stored(update(withStatus, before, widget({}), "status"))).not.toHaveProperty("status");
  });
  test("the generation counts changes of all fields except metadata and status", () => {
    expect(plain.generationOf?.(kube(before))).toEqual({ apiVersion: `${GROUP}/v1`, kind: "Widget", spec: { a: "1" }, status: { a: "s" } });
  });
});

describe("a field selector", () => {
  const select = (name: string, object: JsonObject) => withStatus.fieldSelectors.get(name)?.(kube(object));
  test("finds the fields that the CRD names, as text", () => {
    expect([...withStatus.fieldSelectors.keys()]).toEqual(["spec.a", "spec.flag"]);
    expect(select("spec.a", widget({ a: "1" }))).toBe("1");
    expect(select("spec.flag", widget({ flag: true }))).toBe("true");
    expect(select("spec.a", widget({}))).toBe("");
  });
});

describe("finalizers that are new", () => {
  const named = (...finalizers: string[]): KubeObject => kube(widget({}, { metadata: { name: "x", finalizers } }));
  test.each([
    { name: "with a path cause no warning", given: named("a.test/f", "orphan"), want: [] },
    {
      name: "without a path cause a warning",
      given: named("b", "a.test"),
      want: [
        'metadata.finalizers: "a.test": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
        'metadata.finalizers: "b": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
      ],
    },
  ])("$name", ({ given, want }) => {
    expect(plain.warnings(given, undefined)).toEqual(want);
    expect(plain.warnings(given, given)).toEqual([]);
  });
});

describe("an object is not decoded", () => {
  let deep: Json = 1;
  for (let level = 0; level < 200; level++) deep = [deep];
  test.each([
    {
      name: "when it is no object",
      given: [],
      want: "json: cannot unmarshal []interface {} into Go value of type map[string]interface {}",
    },
    { name: "when it is too deep", given: widget(deep), want: "json: exceeded max depth" },
    { name: "when its kind is no text", given: { kind: 5 }, want: ".kind accessor error: 5 is of the type int64, expected string" },
    {
      name: "when its metadata is of the wrong shape",
      given: widget({}, { metadata: { labels: 5 } }),
      want: "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type map[string]string",
    },
    {
      name: "when a time is invalid",
      given: widget({}, { metadata: { creationTimestamp: "yesterday" } }),
      want: 'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
    },
  ])("$name", ({ given, want }) => {
    expect(plain.decode(given)).toEqual({ ok: false, error: want });
  });
});

describe("a decoded object", () => {
  test("reports unknown fields", () => {
    const decoded = plain.decode(widget({ b: 1 }, { metadata: { name: "x", what: 1 }, top: 1 }));
    expect(decoded.ok ? decoded.value.findings : decoded).toEqual([
      'unknown field "metadata.what"',
      'unknown field "spec.b"',
      'unknown field "top"',
    ]);
  });
  test("of another kind is refused for its kind, and keeps its fields", () => {
    const lines = linesOf(create(plain, widget({ b: 1 }, { kind: "Gadget", apiVersion: "other/v1" })));
    expect(lines).toEqual([
      'kind: Invalid value: "Gadget": must be Widget',
      'apiVersion: Invalid value: "other/v1": must be widgets.lattice.test/v1',
    ]);
  });
});
