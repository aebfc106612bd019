/** Defaults, nulls and unknown fields, as recorded from kube-apiserver 1.36.3. */
import { describe, expect, test } from "vitest";
import type { Json } from "#kube";
import { create, crdOf, crdOfSpec, typeOf, widget } from "../widget.test-support.ts";

const type = typeOf(
  crdOfSpec({
    s: { type: "string", default: "dflt" },
    n: { type: "integer", default: 3 },
    nullableS: { type: "string", nullable: true, default: "nd" },
    nest: {
      type: "object",
      default: {},
      properties: { in: { type: "string", default: "inner" }, l: { type: "array", default: ["a"], items: { type: "string" } } },
    },
    nodef: { type: "object", properties: { in: { type: "string", default: "inner2" } } },
    items: { type: "array", items: { type: "object", properties: { k: { type: "string" }, v: { type: "string", default: "vv" } } } },
    m: { type: "object", additionalProperties: { type: "object", properties: { x: { type: "boolean", default: true } } } },
    kept: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { known: { type: "object", properties: { a: { type: "string" } } } },
    },
    emb: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
  }),
);

function stored(spec: Json | undefined): { readonly spec: Json | undefined; readonly findings: readonly string[] } {
  const result = create(type, widget(spec));
  return result.status === 200 ? { spec: result.object["spec"], findings: result.findings } : { spec: undefined, findings: ["refused"] };
}

const FILLED = { s: "dflt", n: 3, nullableS: "nd", nest: { in: "inner", l: ["a"] } };

const ROWS: readonly {
  readonly name: string;
  readonly given: Json | undefined;
  readonly want: Json | undefined;
  readonly findings?: readonly string[];
}[] = [
  { name: "without a spec no defaults are set", given: undefined, want: undefined },
  { name: "an empty spec gets defaults", given: {}, want: FILLED },
  {
    name: "null is replaced by the default, kept where it is allowed, and dropped where there is no default",
    given: { s: null, n: null, nullableS: null, nest: null, nodef: null },
    want: { ...FILLED, nullableS: null },
  },
  {
    name: "existing items, values and nested objects get defaults",
    given: { s: "mine", nodef: {}, nest: { in: "x" }, items: [{ k: "a" }, { k: "b", v: "set" }], m: { q: {} } },
    want: {
      ...FILLED,
      s: "mine",
      nodef: { in: "inner2" },
      nest: { in: "x", l: ["a"] },
      items: [
        { k: "a", v: "vv" },
        { k: "b", v: "set" },
      ],
      m: { q: { x: true } },
    },
  },
  {
    name: "unknown fields are dropped and reported",
    given: { what: 1, nodef: { deep: {} }, items: [{ k: "a", z: 1 }] },
    want: { ...FILLED, nodef: { in: "inner2" }, items: [{ k: "a", v: "vv" }] },
    findings: ['unknown field "spec.items[0].z"', 'unknown field "spec.nodef.deep"', 'unknown field "spec.what"'],
  },
  {
    name: "unknown fields are kept under preserve-unknown-fields, but not below declared fields",
    given: { kept: { z: { y: 1 }, known: { a: "x", b: 1 } } },
    want: { ...FILLED, kept: { z: { y: 1 }, known: { a: "x" } } },
    findings: ['unknown field "spec.kept.known.b"'],
  },
  {
    name: "metadata of an embedded resource is decoded like any metadata",
    given: { emb: { apiVersion: "v1", kind: "Pod", metadata: { name: "x", what: 1 }, spec: { any: 1 } } },
    want: { ...FILLED, emb: { apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec: { any: 1 } } },
    findings: ['unknown field "spec.emb.metadata.what"'],
  },
];

describe("the stored object", () => {
  test.each(ROWS)("$name", ({ given, want, findings = [] }) => {
    expect(stored(given)).toEqual({ spec: want, findings });
  });

  test("unknown fields at the root and in metadata are reported too", () => {
    const result = create(type, widget({}, { what: 1, metadata: { name: "x", who: 1 } }));
    expect(result.status === 200 && result.findings).toEqual(['unknown field "metadata.who"', 'unknown field "what"']);
  });

  test("a label of null is an empty one", () => {
    const result = create(type, widget({}, { metadata: { name: "x", labels: { a: null } } }));
    expect(result.status === 200 && result.object["metadata"]).toMatchObject({ labels: { a: "" } });
  });

  test("everything is kept if the root preserves unknown fields", () => {
    const open = typeOf(crdOf({ type: "object", "x-kubernetes-preserve-unknown-fields": true }));
    const result = create(open, widget({ a: [{ b: null }] }, { other: true }));
    expect(result.status === 200 && [result.object["spec"], result.object["other"]]).toEqual([{ a: [{ b: null }] }, true]);
  });

  test("the input is never changed", () => {
    const given = Object.freeze(widget(Object.freeze({ what: 1 })));
    create(type, given);
    expect(given).toEqual(widget({ what: 1 }));
  });
});
