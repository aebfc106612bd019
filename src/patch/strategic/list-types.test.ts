/** Kubernetes' own semantics for built-in kinds, list-type semantics for custom resources. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { applyStrategicMergePatch, builtinSchema, crdSchema, type Json, type PatchSchema } from "../index.ts";

const listOf = (rules: object, properties: object = {}): object => ({ type: "array", items: { type: "object", properties }, ...rules });
const byName = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] };

const widgetCrd = {
  spec: {
    names: { kind: "Widget" },
    versions: [
      {
        name: "v1",
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  containers: listOf(byName, {
                    env: listOf(byName),
                    tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
                  }),
                  ports: listOf({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"] }),
                  tolerations: listOf({ "x-kubernetes-list-type": "atomic" }),
                  plain: listOf({}),
                  zones: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
                  forced: listOf({ ...byName, "x-kubernetes-patch-strategy": "replace" }),
                },
              },
            },
          },
        },
      },
    ],
  },
};

const widget = expectOk(crdSchema(widgetCrd as Json, "v1"));
const apply = (spec: Json, patch: Json): Json | undefined =>
  expectOk(applyStrategicMergePatch({ spec }, { spec: patch }, widget, { lists: "list-types" }))["spec"];

describe("built-in kinds", () => {
  const pod = builtinSchema({ group: "", version: "v1", kind: "Pod" }) as PatchSchema;

  test("patching the image of one Pod container keeps the sidecar", () => {
    const given = {
      spec: {
        containers: [
          { name: "nginx", image: "nginx:1.14" },
          { name: "sidecar", image: "sidecar:v1" },
        ],
      },
    };
    const patched = applyStrategicMergePatch(given, { spec: { containers: [{ name: "nginx", image: "nginx:1.21" }] } }, pod);
    expect(expectOk(patched)).toEqual({
      spec: {
        containers: [
          { name: "nginx", image: "nginx:1.21" },
          { name: "sidecar", image: "sidecar:v1" },
        ],
      },
    });
  });

  test("Pod volumes merge by name, and retain only named keys where the patch says so", () => {
    const given = {
      spec: {
        volumes: [
          { name: "v", emptyDir: {} },
          { name: "w", emptyDir: {} },
        ],
      },
    };
    const merged = applyStrategicMergePatch(given, { spec: { volumes: [{ name: "v", hostPath: { path: "/" } }] } }, pod);
    expect(expectOk(merged)).toEqual({
      spec: {
        volumes: [
          { name: "v", emptyDir: {}, hostPath: { path: "/" } },
          { name: "w", emptyDir: {} },
        ],
      },
    });
    const retain = { name: "v", hostPath: { path: "/" }, $retainKeys: ["name", "hostPath"] };
    const retained = applyStrategicMergePatch(given, { spec: { volumes: [retain] } }, pod);
    expect(expectOk(retained)).toEqual({
      spec: {
        volumes: [
          { name: "v", hostPath: { path: "/" } },
          { name: "w", emptyDir: {} },
        ],
      },
    });
  });

  test("Pod tolerations are atomic and replaced", () => {
    const patched = applyStrategicMergePatch({ spec: { tolerations: [{ key: "a" }] } }, { spec: { tolerations: [{ key: "b" }] } }, pod);
    expect(expectOk(patched)).toEqual({ spec: { tolerations: [{ key: "b" }] } });
  });
});

describe("list types of custom resources, as an option", () => {
  test.each([
    {
      name: "map: an element with the same key is merged, a new one is appended, the order stays",
      given: { containers: [{ name: "a", image: "1" }, { name: "b" }] },
      patch: { containers: [{ name: "c" }, { name: "a", args: ["x"] }] },
      want: { containers: [{ name: "a", image: "1", args: ["x"] }, { name: "b" }, { name: "c" }] },
    },
    {
      name: "map: elements merge strategically, so lists inside them follow their own types",
      given: { containers: [{ name: "a", env: [{ name: "X", value: "1" }], tags: ["p"] }] },
      patch: { containers: [{ name: "a", env: [{ name: "Y" }], tags: ["q", "p"] }] },
      want: { containers: [{ name: "a", env: [{ name: "X", value: "1" }, { name: "Y" }], tags: ["p", "q"] }] },
    },
    {
      name: "map: several keys identify an element together",
      given: { ports: [{ port: 53, protocol: "TCP" }] },
      patch: {
        ports: [
          { port: 53, protocol: "UDP" },
          { port: 53, protocol: "TCP", name: "dns" },
        ],
      },
      want: {
        ports: [
          { port: 53, protocol: "TCP", name: "dns" },
          { port: 53, protocol: "UDP" },
        ],
      },
    },
    { name: "set: a union, original first", given: { zones: ["b", "a"] }, patch: { zones: ["c", "a"] }, want: { zones: ["b", "a", "c"] } },
    {
      name: "atomic: replaced",
      given: { tolerations: [{ key: "a" }] },
      patch: { tolerations: [{ key: "b" }] },
      want: { tolerations: [{ key: "b" }] },
    },
    { name: "no list type: replaced", given: { plain: [{ key: "a" }] }, patch: { plain: [{ key: "b" }] }, want: { plain: [{ key: "b" }] } },
    {
      name: "patch-strategy replace wins",
      given: { forced: [{ name: "a" }] },
      patch: { forced: [{ name: "b" }] },
      want: { forced: [{ name: "b" }] },
    },
    {
      name: "$patch: delete removes an element",
      given: { containers: [{ name: "a" }, { name: "b" }] },
      patch: { containers: [{ name: "a", $patch: "delete" }] },
      want: { containers: [{ name: "b" }] },
    },
    {
      name: "$patch: replace makes the patch the whole list",
      given: { containers: [{ name: "a" }] },
      patch: { containers: [{ $patch: "replace" }, { name: "b" }] },
      want: { containers: [{ name: "b" }] },
    },
    {
      name: "$setElementOrder reorders the elements it lists",
      given: { containers: [{ name: "a" }, { name: "b" }, { name: "c" }] },
      patch: { "$setElementOrder/containers": [{ name: "c" }, { name: "a" }] },
      want: { containers: [{ name: "c" }, { name: "b" }, { name: "a" }] },
    },
    {
      name: "$setElementOrder works on sets",
      given: { zones: ["a", "b"] },
      patch: { "$setElementOrder/zones": ["b", "a"] },
      want: { zones: ["b", "a"] },
    },
  ])("$name", ({ given, patch, want }) => {
    expect(apply(given as Json, patch as Json)).toEqual(want);
  });

  test("a missing key and an unknown directive are errors here too", () => {
    const options = { lists: "list-types" } as const;
    const given = { spec: { containers: [{ name: "a" }] } };
    expect(applyStrategicMergePatch(given, { spec: { containers: [{ image: "x" }] } }, widget, options)).toMatchObject({
      ok: false,
      error: { kind: "no-merge-key" },
    });
    expect(applyStrategicMergePatch(given, { spec: { containers: [{ name: "a", $patch: "zap" }] } }, widget, options)).toMatchObject({
      ok: false,
      error: { kind: "bad-directive" },
    });
    const inner = { spec: { containers: [{ name: "a", env: [{ value: "x" }] }] } };
    const before = { spec: { containers: [{ name: "a", env: [] }] } };
    expect(applyStrategicMergePatch(before, inner, widget, options)).toMatchObject({ ok: false, error: { kind: "no-merge-key" } });
  });

  test("without the option, lists of custom resources are replaced, because strategic merge ignores list types", () => {
    const patched = applyStrategicMergePatch({ spec: { zones: ["a"] } }, { spec: { zones: ["b"] } }, widget);
    expect(expectOk(patched)).toEqual({ spec: { zones: ["b"] } });
  });
});
