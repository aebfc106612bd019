import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import {
  applyStrategicMergePatch,
  builtinSchema,
  httpStatusOf,
  mergeStrategicPatches,
  structuralSchema,
  type Json,
  type JsonObject,
  type PatchSchema,
} from "../index.ts";

function builtin(group: string, version: string, kind: string): PatchSchema {
  const schema = builtinSchema({ group, version, kind });
  if (schema === undefined) throw new Error(`no schema for ${kind}`);
  return schema;
}

const pod = builtin("", "v1", "Pod");
const containers = (...list: readonly JsonObject[]): JsonObject => ({ spec: { containers: list } });
const named = (...names: readonly string[]): readonly JsonObject[] => names.map((name) => ({ name }));

type Row = { readonly name: string; readonly given: Json; readonly patch: Json; readonly want: Json };

const works: readonly Row[] = [
  {
    name: "new elements of a merge list come first",
    given: containers(...named("a", "b")),
    patch: containers(...named("c", "a")),
    want: containers(...named("c", "a", "b")),
  },
  {
    name: "container ports merge on containerPort alone, whatever the protocol",
    given: containers({ name: "a", ports: [{ containerPort: 53, protocol: "TCP" }] }),
    patch: containers({ name: "a", ports: [{ containerPort: 53, protocol: "UDP" }] }),
    want: containers({ name: "a", ports: [{ containerPort: 53, protocol: "UDP" }] }),
  },
  {
    name: "$patch: delete removes an element",
    given: containers(...named("a", "b")),
    patch: containers({ name: "a", $patch: "delete" }),
    want: containers({ name: "b" }),
  },
  {
    name: "$patch: replace in an element replaces the whole list and drops that element",
    given: containers(...named("a", "b")),
    patch: containers({ name: "x", $patch: "replace" }, { name: "c" }),
    want: containers({ name: "c" }),
  },
  {
    name: "$patch: replace in an object replaces it",
    given: { metadata: { labels: { a: "1" } } },
    patch: { metadata: { labels: { $patch: "replace", b: "2" } } },
    want: { metadata: { labels: { b: "2" } } },
  },
  {
    name: "$patch: delete in an object empties it",
    given: { metadata: { labels: { a: "1" }, name: "x" } },
    patch: { metadata: { labels: { $patch: "delete" } } },
    want: { metadata: { labels: {}, name: "x" } },
  },
  {
    name: "$setElementOrder puts elements in order and leaves the server's own between them",
    given: containers(...named("s1", "a", "s2", "b", "s3")),
    patch: { spec: { "$setElementOrder/containers": named("b", "a") } },
    want: containers(...named("s1", "s2", "b", "a", "s3")),
  },
  {
    name: "an element that is added while another is deleted takes its place in the server's order",
    given: containers(...named("a", "b", "c")),
    patch: { spec: { "$setElementOrder/containers": named("d"), containers: [{ name: "d" }, { name: "b", $patch: "delete" }] } },
    want: containers(...named("a", "c", "d")),
  },
  {
    name: "$setElementOrder on a missing list creates the list of the patch",
    given: { spec: {} },
    patch: {
      spec: {
        "$setElementOrder/containers": named("a"),
        containers: [
          { name: "a", image: null },
          { name: "b", $patch: "delete" },
        ],
      },
    },
    want: containers({ name: "a", image: null }),
  },
  {
    name: "$setElementOrder without any list changes nothing",
    given: { spec: {} },
    patch: { spec: { "$setElementOrder/containers": named("a") } },
    want: { spec: {} },
  },
  {
    name: "finalizers are merged, new ones first",
    given: { metadata: { finalizers: ["a", "b"] } },
    patch: { metadata: { finalizers: ["c", "a"] } },
    want: { metadata: { finalizers: ["c", "a", "b"] } },
  },
  {
    name: "$deleteFromPrimitiveList removes scalars before new ones are added",
    given: { metadata: { finalizers: ["a", "b", "c"] } },
    patch: { metadata: { finalizers: ["d"], "$deleteFromPrimitiveList/finalizers": ["b"] } },
    want: { metadata: { finalizers: ["d", "a", "c"] } },
  },
  {
    name: "$deleteFromPrimitiveList of a missing list changes nothing",
    given: { metadata: {} },
    patch: { metadata: { "$deleteFromPrimitiveList/finalizers": ["b"] } },
    want: { metadata: {} },
  },
  {
    name: "$deleteFromPrimitiveList that is null deletes the field, as in Kubernetes",
    given: { metadata: { finalizers: ["a"] } },
    patch: { metadata: { "$deleteFromPrimitiveList/finalizers": null } },
    want: { metadata: {} },
  },
  {
    name: "$retainKeys works on any object",
    given: { spec: { volumes: [{ name: "v", emptyDir: {} }] } },
    patch: { spec: { volumes: [{ name: "v", $retainKeys: ["name", "hostPath"], hostPath: { path: "/" } }] } },
    want: { spec: { volumes: [{ name: "v", hostPath: { path: "/" } }] } },
  },
  {
    name: "null deletes a field, and in a new object it is dropped",
    given: { spec: { nodeName: "n" } },
    patch: { spec: { nodeName: null, hostname: null, securityContext: { runAsUser: null, runAsGroup: 1 } } },
    want: { spec: { securityContext: { runAsGroup: 1 } } },
  },
  {
    name: "a list without a merge strategy is replaced, including nulls",
    given: { spec: { tolerations: [{ key: "a" }] } },
    patch: { spec: { tolerations: [{ key: "b", value: null }] } },
    want: { spec: { tolerations: [{ key: "b", value: null }] } },
  },
  {
    name: "duplicates in a list of scalars are replaced by the last element",
    given: { metadata: { finalizers: ["a", "a", "b"] } },
    patch: { metadata: { finalizers: ["b", "c", "c"] } },
    want: { metadata: { finalizers: ["a", "b", "c"] } },
  },
  {
    name: "new elements take the positions of duplicates, if Go's slice has capacity",
    given: { metadata: { finalizers: ["c", "x", "x"] } },
    patch: { metadata: { finalizers: ["f"] } },
    want: { metadata: { finalizers: ["c", "x", "f"] } },
  },
  {
    name: "delete removes every element with that key",
    given: containers(...named("a", "b", "a")),
    patch: containers({ name: "a", $patch: "delete" }),
    want: containers({ name: "b" }),
  },
  {
    name: "$deleteFromPrimitiveList on a list of objects merges it, as in Kubernetes",
    given: containers({ name: "a" }),
    patch: { spec: { "$deleteFromPrimitiveList/containers": [{ name: "b" }] } },
    want: containers(...named("b", "a")),
  },
  {
    name: "$deleteFromPrimitiveList with a scalar sets the field, as in Kubernetes",
    given: { spec: { nodeName: "a", priority: 1 } },
    patch: { spec: { "$deleteFromPrimitiveList/nodeName": "b", "$deleteFromPrimitiveList/priority": "x" } },
    want: { spec: { nodeName: "b", priority: 1 } },
  },
  {
    name: "two empty lists stay empty",
    given: { metadata: { finalizers: [] }, spec: { containers: [] } },
    patch: { metadata: { "$deleteFromPrimitiveList/finalizers": [] }, spec: { containers: [] } },
    want: { metadata: { finalizers: [] }, spec: { containers: [] } },
  },
  { name: "a directive for a missing field adds nothing", given: {}, patch: { metadata: { $patch: "delete" } }, want: {} },
  { name: "an unknown scalar is set", given: {}, patch: { surprise: 1 }, want: { surprise: 1 } },
  { name: "null documents are empty ones", given: null, patch: null, want: {} },
];

describe("applyStrategicMergePatch", () => {
  test.each(works)("$name", ({ given, patch, want }) => {
    expect(applyStrategicMergePatch(given, patch, pod)).toEqual({ ok: true, value: want });
  });

  test.each([
    {
      name: "a missing merge key",
      patch: containers({ image: "x" }),
      status: 500,
      want: "map: map[image:x] does not contain declared merge key: name",
    },
    {
      name: "a delete without its key",
      patch: containers({ $patch: "delete" }),
      status: 500,
      want: "map: map[$patch:delete] does not contain declared merge key: name",
    },
    {
      name: "$patch: merge in an element",
      patch: containers({ name: "a", $patch: "merge" }),
      status: 500,
      want: "merging lists cannot yet be specified in the patch",
    },
    {
      name: "an unknown $patch in an element",
      patch: containers({ name: "a", $patch: "zap" }),
      status: 500,
      want: "unknown patch type: zap in map: map[$patch:zap name:a]",
    },
    {
      name: "an unknown $patch in an object",
      patch: { spec: { $patch: 1 } },
      status: 500,
      want: "unknown patch type: %!s(int64=1) in map: map[$patch:1]",
    },
    {
      name: "an order that omits an element",
      patch: { spec: { "$setElementOrder/containers": named("a"), containers: named("z") } },
      status: 500,
      want: "The order in patch list:\n[map[name:z]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    },
    {
      name: "an order that is not a list",
      patch: { spec: { "$setElementOrder/containers": {} } },
      status: 500,
      want: "expected a []interface {}, but received a map[string]interface {}",
    },
    {
      name: "an order without a list's name",
      patch: { spec: { $setElementOrder: [] } },
      status: 400,
      want: "invalid patch format of setElementOrder list",
    },
    {
      name: "deletions without a list's name",
      patch: { spec: { $deleteFromPrimitiveList: [] } },
      status: 400,
      want: "invalid patch format of primitive list",
    },
    {
      name: "retained keys that are not a list",
      patch: { spec: { $retainKeys: "name" } },
      status: 400,
      want: "invalid patch format of retainKeys",
    },
    {
      name: "a key that is set but not retained",
      patch: { spec: { $retainKeys: [], nodeName: "x" } },
      status: 400,
      want: "invalid patch format of retainKeys",
    },
    {
      name: "mixed elements",
      patch: { spec: { containers: ["x"] } },
      status: 500,
      want: "list element types are not identical: [[map[name:a]] [x]]",
    },
    {
      name: "nulls as elements",
      patch: { spec: { containers: [null] } },
      status: 500,
      want: "list element types are not identical: [[map[name:a]] [<nil>]]",
    },
    {
      name: "an unknown field that is an object on both sides",
      patch: { spec: { surprise: {} } },
      status: 500,
      want: 'unable to find api field in struct PodSpec for the json field "surprise"',
    },
    {
      name: "an unknown list on both sides",
      patch: { spec: { list: [] } },
      status: 500,
      want: 'unable to find api field in struct PodSpec for the json field "list"',
    },
    {
      name: "an object where the type has a map of scalars",
      patch: { metadata: { labels: { a: { b: 1 } } } },
      status: 500,
      want: "merging an object in json but data type is not struct, instead is: map",
    },
    {
      name: "a list where the type has none",
      patch: { spec: { nodeName: [] } },
      status: 500,
      want: "expected slice or array type, but got: struct",
    },
  ])("refuses $name with Kubernetes' message and $status", ({ patch, status, want }) => {
    const given = {
      metadata: { labels: { a: { b: 0 } }, finalizers: ["f"] },
      spec: { containers: [{ name: "a" }], surprise: {}, list: [], nodeName: [] },
    };
    const result = applyStrategicMergePatch(given, patch, pod);
    expect(result).toMatchObject({ ok: false, error: { message: want } });
    if (!result.ok) expect(httpStatusOf(result.error)).toBe(status);
  });

  test("lists of lists cannot be merged", () => {
    const schema = structuralSchema({ properties: { l: { type: "array", "x-kubernetes-patch-strategy": "merge" } } }, "Lists");
    const result = applyStrategicMergePatch({ l: [[1]] }, { l: [[2]] }, schema);
    expect(result).toEqual({ ok: false, error: { kind: "list-of-lists", message: "lists of lists are not supported" } });
    if (!result.ok) expect(httpStatusOf(result.error)).toBe(422);
  });

  test("a merge list of objects needs a merge key", () => {
    const schema = structuralSchema({ properties: { l: { type: "array", "x-kubernetes-patch-strategy": "merge" } } }, "Lists");
    expect(applyStrategicMergePatch({ l: [{}] }, { l: [{}] }, schema)).toMatchObject({ ok: false, error: { kind: "bad-schema" } });
  });

  test("merge keys that are objects are an error where Go panics", () => {
    const order = [{ name: {} }];
    const patch = { spec: { "$setElementOrder/containers": order, containers: [{ name: {} }] } };
    expect(applyStrategicMergePatch(containers({ name: "a" }), patch, pod)).toMatchObject({ ok: false, error: { kind: "bad-type" } });
  });

  test.each([
    { original: [1], patch: {} },
    { original: {}, patch: "x" },
  ])("what is not an object is no document: $original, $patch", ({ original, patch }) => {
    expect(applyStrategicMergePatch(original, patch, pod)).toEqual({
      ok: false,
      error: { kind: "bad-json", message: "invalid JSON document" },
    });
  });
});

describe("mergeStrategicPatches", () => {
  test("keeps nulls, directives and deletions in the merged patch", () => {
    const merged = mergeStrategicPatches(
      [
        { metadata: { labels: { a: null } }, spec: containers({ name: "a", image: "1" })["spec"] },
        {
          metadata: { "$deleteFromPrimitiveList/finalizers": ["x"] },
          spec: { $retainKeys: ["containers"], "$setElementOrder/containers": named("b", "a"), containers: named("b") },
        },
      ],
      pod,
    );
    expect(expectOk(merged)).toEqual({
      metadata: { labels: { a: null }, "$deleteFromPrimitiveList/finalizers": ["x"] },
      spec: {
        $retainKeys: ["containers"],
        "$setElementOrder/containers": named("b", "a"),
        containers: [{ name: "b" }, { name: "a", image: "1" }],
      },
    });
  });

  test("patches with different orders or retained keys cannot be merged", () => {
    const order = (...names: readonly string[]): JsonObject => ({
      spec: { "$setElementOrder/containers": named(...names), containers: named("a") },
    });
    expect(mergeStrategicPatches([order("a"), order("a", "b")], pod)).toMatchObject({ ok: false, error: { kind: "bad-element-order" } });
    expect(mergeStrategicPatches([{ $retainKeys: ["a"] }, { $retainKeys: ["b"] }, {}], pod)).toMatchObject({
      ok: false,
      error: { message: "[a] and [b] are not deep equal: this may happen when calculating the 3-way diff patch" },
    });
  });
});
