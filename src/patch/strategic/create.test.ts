import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import {
  builtinSchema,
  createThreeWayStrategicPatch,
  createTwoWayStrategicPatch,
  explainLists,
  applyStrategicMergePatch,
  fieldUnchanged,
  sortMergeLists,
  strategicPatchesConflict,
  structuralSchema,
  type Json,
  type JsonObject,
  type PatchSchema,
} from "../index.ts";

const deployment = builtinSchema({ group: "apps", version: "v1", kind: "Deployment" }) as PatchSchema;
const pod = builtinSchema({ group: "", version: "v1", kind: "Pod" }) as PatchSchema;
const named = (...names: readonly string[]): readonly JsonObject[] => names.map((name) => ({ name }));
const spec = (fields: JsonObject): JsonObject => ({ spec: fields });

describe("createTwoWayStrategicPatch", () => {
  test.each<{ name: string; before: Json; after: Json; want: Json }>([
    {
      name: "changes, additions and deletions",
      before: spec({ a: 1, b: 1 }),
      after: spec({ a: 2, c: 1 }),
      want: spec({ a: 2, b: null, c: 1 }),
    },
    {
      name: "a changed element is named, with the order of all",
      before: spec({ containers: [{ name: "a", image: "1" }, { name: "b" }] }),
      after: spec({ containers: [{ name: "a", image: "2" }, { name: "b" }] }),
      want: spec({ "$setElementOrder/containers": named("a", "b"), containers: [{ name: "a", image: "2" }] }),
    },
    {
      name: "a deleted element is marked, after the others",
      before: spec({ containers: named("a", "b") }),
      after: spec({ containers: named("b", "c") }),
      want: spec({ "$setElementOrder/containers": named("b", "c"), containers: [{ name: "c" }, { name: "a", $patch: "delete" }] }),
    },
    {
      name: "a new order alone is a patch",
      before: spec({ containers: named("a", "b") }),
      after: spec({ containers: named("b", "a") }),
      want: spec({ "$setElementOrder/containers": named("b", "a") }),
    },
    {
      name: "scalars are deleted by a list of their own",
      before: { metadata: { finalizers: ["a", "b"] } },
      after: { metadata: { finalizers: ["b", "c"] } },
      want: { metadata: { "$deleteFromPrimitiveList/finalizers": ["a"], "$setElementOrder/finalizers": ["b", "c"], finalizers: ["c"] } },
    },
    {
      name: "an unsorted list of scalars gets an order it does not need, as in Kubernetes",
      before: { metadata: { finalizers: ["b", "a"] } },
      after: { metadata: { finalizers: ["b", "a"] } },
      want: { metadata: { "$setElementOrder/finalizers": ["b", "a"] } },
    },
    {
      name: "volumes list the retained keys",
      before: spec({ volumes: [{ name: "v", emptyDir: {} }] }),
      after: spec({ volumes: [{ name: "v", hostPath: {} }] }),
      want: spec({
        "$setElementOrder/volumes": named("v"),
        volumes: [{ name: "v", $retainKeys: ["hostPath", "name"], emptyDir: null, hostPath: {} }],
      }),
    },
    {
      name: "an empty list becomes the new one",
      before: spec({ containers: [] }),
      after: spec({ containers: named("a") }),
      want: spec({ containers: named("a") }),
    },
    {
      name: "lists without a strategy are replaced",
      before: spec({ tolerations: [{ key: "a" }] }),
      after: spec({ tolerations: [] }),
      want: spec({ tolerations: [] }),
    },
    {
      name: "an object with the strategy replace is sent completely, even unchanged, as in Kubernetes",
      before: { data: { a: 1 } },
      after: { data: { a: 1 } },
      want: { data: { a: 1 } },
    },
    { name: "another type is a new value", before: spec({ replicas: 1 }), after: spec({ replicas: "1" }), want: spec({ replicas: "1" }) },
    {
      name: "unknown fields that did not change need no patch",
      before: { x: { y: [1] }, l: [1] },
      after: { x: { y: [1] }, l: [1] },
      want: {},
    },
    {
      name: "$patch in the documents is compared as text",
      before: spec({ $patch: "a" }),
      after: spec({ $patch: "b" }),
      want: spec({ $patch: "b" }),
    },
  ])("$name", ({ before, after, want }) => {
    const replaced = { type: "object", "x-kubernetes-patch-strategy": "replace" };
    const schema = "data" in (before as JsonObject) ? structuralSchema({ properties: { data: replaced } }, "Data") : pod;
    expect(createTwoWayStrategicPatch(before, after, schema)).toEqual({ ok: true, value: want });
  });

  test.each<{ name: string; before: Json; after: Json; kind: string }>([
    { name: "documents that are not objects", before: [1], after: {}, kind: "bad-json" },
    { name: "unknown objects that changed", before: { x: { y: 1 } }, after: { x: { y: 2 } }, kind: "unknown-field" },
    { name: "unknown lists that changed", before: { x: [1] }, after: { x: [2] }, kind: "unknown-field" },
    {
      name: "elements without their key",
      before: spec({ containers: named("a") }),
      after: spec({ containers: [{}] }),
      kind: "no-merge-key",
    },
    {
      name: "elements without their key before",
      before: spec({ containers: [{}] }),
      after: spec({ containers: named("a") }),
      kind: "no-merge-key",
    },
    { name: "mixed elements", before: spec({ containers: named("a") }), after: spec({ containers: [1] }), kind: "bad-elements" },
    {
      name: "errors deep inside",
      before: spec({ containers: [{ name: "a", x: { y: 1 } }] }),
      after: spec({ containers: [{ name: "a", x: { y: 2 } }] }),
      kind: "unknown-field",
    },
    { name: "$patch that is not a string", before: spec({ $patch: 1 }), after: spec({ $patch: 2 }), kind: "bad-directive" },
    {
      name: "keys that cannot be compared",
      before: spec({ containers: [{ name: {} }] }),
      after: spec({ containers: [{ name: {} }] }),
      kind: "bad-type",
    },
  ])("refuses $name", ({ before, after, kind }) => {
    expect(createTwoWayStrategicPatch(before, after, pod)).toMatchObject({ ok: false, error: { kind } });
  });

  test("a precondition rejects a changed name", () => {
    const options = { preconditions: [fieldUnchanged("kind"), fieldUnchanged("metadata", "name")] };
    const rename = createTwoWayStrategicPatch({ metadata: { name: "a" } }, { metadata: { name: "b" } }, pod, options);
    expect(rename).toEqual({
      ok: false,
      error: { kind: "precondition-failed", message: "precondition failed for: map[metadata:map[name:b]]" },
    });
    expect(createTwoWayStrategicPatch({ metadata: { name: "a" } }, { metadata: { name: "a" }, spec: {} }, pod, options).ok).toBe(true);
  });
});

describe("createThreeWayStrategicPatch", () => {
  const original = spec({ paused: true, replicas: 1 });
  const modified = spec({ replicas: 2 });

  test("deletes previously applied fields, sets modified fields, keeps other fields", () => {
    const current = spec({ paused: true, replicas: 1, minReadySeconds: 5 });
    expect(createThreeWayStrategicPatch({ original, modified, current }, deployment)).toEqual({
      ok: true,
      value: spec({ paused: null, replicas: 2 }),
    });
  });

  test("a field that another writer changed is a conflict, shown as YAML, unless it may be overwritten", () => {
    const current = spec({ paused: true, replicas: 5 });
    expect(createThreeWayStrategicPatch({ original, modified, current }, deployment)).toEqual({
      ok: false,
      error: {
        kind: "conflict",
        message:
          "patch:\nspec:\n  paused: null\n  replicas: 2\n\nconflicts with changes made from original to current:\nspec:\n  replicas: 5\n\n",
      },
    });
    expect(createThreeWayStrategicPatch({ original, modified, current }, deployment, { overwrite: true })).toEqual({
      ok: true,
      value: spec({ paused: null, replicas: 2 }),
    });
  });

  test("elements that the server added stay", () => {
    const patch = createThreeWayStrategicPatch(
      {
        original: spec({ containers: named("a", "b") }),
        modified: spec({ containers: named("a") }),
        current: spec({ containers: named("a", "b", "injected") }),
      },
      pod,
      { overwrite: true },
    );
    expect(expectOk(patch)).toEqual(spec({ "$setElementOrder/containers": named("a"), containers: [{ name: "b", $patch: "delete" }] }));
  });

  test("the search for conflicts sorts lists of scalars in the patch, as in Kubernetes", () => {
    const dns = (nameservers: readonly string[]): JsonObject => spec({ dnsConfig: { nameservers } });
    const patch = createThreeWayStrategicPatch(
      { original: dns(["x"]), modified: dns(["b", "a", "b"]), current: dns(["a", "b", "a"]) },
      pod,
    );
    expect(expectOk(patch)).toEqual(dns(["a", "b", "b"]));
  });

  test.each<{ name: string; original: Json; modified: Json; current: Json }>([
    { name: "the first diff", original: {}, modified: { x: { y: 1 } }, current: { x: { y: 2 } } },
    { name: "the second diff", original: { x: { y: 1 } }, modified: { x: { y: 2 } }, current: {} },
    { name: "the third diff", original: { x: { y: 1 } }, modified: {}, current: { x: { y: 2 } } },
    { name: "a document", original: 1, modified: {}, current: {} },
  ])("an error in $name is an error", (documents) => {
    expect(createThreeWayStrategicPatch(documents, pod).ok).toBe(false);
  });

  test("a precondition can reject the patch", () => {
    const documents = { original: { kind: "A" }, modified: { kind: "B" }, current: { kind: "A" } };
    expect(createThreeWayStrategicPatch(documents, pod, { preconditions: [fieldUnchanged("kind")] })).toMatchObject({
      ok: false,
      error: { kind: "precondition-failed" },
    });
  });
});

describe("strategicPatchesConflict", () => {
  const containers = (...list: readonly JsonObject[]): JsonObject => spec({ containers: list });
  test.each<{ name: string; a: JsonObject; b: JsonObject; want: boolean }>([
    {
      name: "different images of one container",
      a: containers({ name: "a", image: "1" }),
      b: containers({ name: "a", image: "2" }),
      want: true,
    },
    { name: "different containers", a: containers({ name: "a", image: "1" }), b: containers({ name: "b", image: "2" }), want: false },
    { name: "scalars of a merge list", a: { metadata: { finalizers: ["a"] } }, b: { metadata: { finalizers: ["b"] } }, want: false },
    { name: "a directive on one side only", a: spec({ $patch: "delete" }), b: spec({ nodeName: "x" }), want: true },
    {
      name: "lists in another order",
      a: spec({ dnsConfig: { nameservers: ["a", "b"] } }),
      b: spec({ dnsConfig: { nameservers: ["b", "a"] } }),
      want: false,
    },
    { name: "lists of other length", a: spec({ tolerations: [{}] }), b: spec({ tolerations: [{}, {}] }), want: true },
    { name: "atomic elements that differ", a: spec({ tolerations: [{ key: "a" }] }), b: spec({ tolerations: [{ key: "b" }] }), want: true },
    {
      name: "atomic scalars that differ",
      a: spec({ dnsConfig: { nameservers: ["a"] } }),
      b: spec({ dnsConfig: { nameservers: ["b"] } }),
      want: true,
    },
    { name: "an object against a scalar", a: spec({}), b: { spec: 1 }, want: true },
    { name: "a list against a scalar", a: spec({ tolerations: [] }), b: spec({ tolerations: 1 }), want: true },
    { name: "retained keys alone", a: spec({ $retainKeys: ["a"] }), b: spec({ $retainKeys: ["b"] }), want: false },
  ])("$name: $want", ({ a, b, want }) => {
    expect(strategicPatchesConflict(a, b, pod)).toEqual({ ok: true, value: want });
  });

  test.each<{ name: string; a: JsonObject; b: JsonObject }>([
    { name: "unknown objects", a: { x: {} }, b: { x: {} } },
    { name: "unknown lists", a: { x: [] }, b: { x: [] } },
    { name: "two empty lists", a: spec({ tolerations: [] }), b: spec({ tolerations: [] }) },
    { name: "elements without a key on the left", a: containers({}), b: containers({ name: "a" }) },
    { name: "elements without a key on the right", a: containers({ name: "a" }), b: containers({}) },
  ])("$name are an error", ({ a, b }) => {
    expect(strategicPatchesConflict(a, b, pod).ok).toBe(false);
  });
});

describe("sortMergeLists", () => {
  test("sorts merge lists at every level, and directives", () => {
    const given = {
      metadata: { finalizers: ["b", "a", "b"], $patch: "replace", "$deleteFromPrimitiveList/finalizers": ["d", "c"] },
      spec: {
        containers: [{ name: "b", env: named("y", "x") }, { name: "a" }],
        tolerations: [{ key: "b" }, { key: "a" }],
        $retainKeys: ["b", "a"],
        "$setElementOrder/x": ["b", "a"],
        volumes: [],
      },
    };
    expect(expectOk(sortMergeLists(given, pod))).toEqual({
      metadata: { finalizers: ["a", "b"], $patch: "replace", "$deleteFromPrimitiveList/finalizers": ["c", "d"] },
      spec: {
        containers: [{ name: "a" }, { name: "b", env: named("x", "y") }],
        tolerations: [{ key: "b" }, { key: "a" }],
        $retainKeys: ["a", "b"],
        "$setElementOrder/x": ["b", "a"],
        volumes: [],
      },
    });
  });

  test.each<{ given: Json; kind: string }>([
    { given: [], kind: "bad-json" },
    { given: { $retainKeys: 1 }, kind: "bad-retain-keys" },
    { given: { "$deleteFromPrimitiveList/x": 1 }, kind: "bad-primitive-list" },
    { given: { "$setElementOrder/x": 1 }, kind: "bad-element-order" },
    { given: { $other: {} }, kind: "unknown-field" },
    { given: { other: [] }, kind: "unknown-field" },
    { given: spec({ containers: [1, "a"] }), kind: "bad-elements" },
    { given: spec({ containers: [{ name: "a", x: {} }] }), kind: "unknown-field" },
  ])("refuses $given with $kind", ({ given, kind }) => {
    expect(sortMergeLists(given, pod)).toMatchObject({ ok: false, error: { kind } });
  });
});

describe("explainLists", () => {
  test("reports how each list was merged and which elements changed", () => {
    const original = {
      metadata: { finalizers: ["x"] },
      spec: { containers: [{ name: "web", env: named("A") }, { name: "log" }, { name: "old" }], tolerations: [{ key: "a" }] },
    };
    const patch = {
      metadata: { "$deleteFromPrimitiveList/finalizers": ["x"] },
      spec: {
        containers: [{ name: "new" }, { name: "web", env: named("B") }, { name: "old", $patch: "delete" }],
        tolerations: [{ key: "b" }],
        nodeName: "n",
      },
    };
    const result = expectOk(applyStrategicMergePatch(original, patch, pod));
    expect(explainLists(original, patch, result, pod)).toEqual([
      { path: "metadata.finalizers", treatment: "united", added: [], changed: [], removed: ["x"], kept: [] },
      { path: "spec.containers", treatment: "merged by name", added: ["new"], changed: ["web"], removed: ["old"], kept: ["log"] },
      { path: "spec.containers[web].env", treatment: "merged by name", added: ["B"], changed: [], removed: [], kept: ["A"] },
      { path: "spec.tolerations", treatment: "replaced", added: ['{"key":"b"}'], changed: [], removed: ['{"key":"a"}'], kept: [] },
    ]);
  });
});
