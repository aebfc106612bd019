import { expectOk } from "#base";
import { fieldAt, type JsonObject } from "#kube";
import { describe, expect, it } from "vitest";
import { excluding } from "./field-filter.ts";
import { fieldSetOf } from "./field-set.ts";
import { fieldPath } from "./path-element.ts";
import { widget, WidgetWorld, widgetKind } from "./widget.test-support.ts";

const world = () => new WidgetWorld();

describe("applyPatch: owning and removing", () => {
  type Row = { name: string; given: WidgetWorld; spec: unknown; owners: Record<string, unknown> };
  it.each<Row>([
    {
      name: "the first apply owns all applied fields, including the keys of list items",
      given: world().apply("alice", { a: "1", items: [{ name: "x", value: "v" }], tags: ["t"] }),
      spec: { a: "1", items: [{ name: "x", value: "v" }], tags: ["t"] },
      owners: {
        "alice Apply": {
          "f:spec": { "f:a": {}, "f:items": { 'k:{"name":"x"}': { ".": {}, "f:name": {}, "f:value": {} } }, "f:tags": { 'v:"t"': {} } },
        },
      },
    },
    {
      name: "a field that is no longer applied is removed when no other manager owns it",
      given: world().apply("alice", { a: "1", n: 1 }).apply("alice", { a: "1" }),
      spec: { a: "1" },
      owners: { "alice Apply": { "f:spec": { "f:a": {} } } },
    },
    {
      name: "and stays when another manager applied it too",
      given: world().apply("alice", { a: "1", n: 1 }).apply("bob", { n: 1 }).apply("alice", { a: "1" }),
      spec: { a: "1", n: 1 },
      owners: { "bob Apply": { "f:spec": { "f:n": {} } }, "alice Apply": { "f:spec": { "f:a": {} } } },
    },
    {
      name: "and stays when an update had changed it",
      given: world().apply("alice", { a: "1", n: 1 }).update("ctl", { a: "1", n: 2 }).apply("alice", { a: "1" }),
      spec: { a: "1", n: 2 },
      owners: { "alice Apply": { "f:spec": { "f:a": {} } }, "ctl Update": { "f:spec": { "f:n": {} } } },
    },
    {
      name: "a list item is removed with all fields of its applier",
      given: world()
        .apply("alice", { items: [{ name: "x", value: "v" }, { name: "y" }] })
        .apply("alice", { items: [{ name: "y" }] }),
      spec: { items: [{ name: "y" }] },
      owners: { "alice Apply": { "f:spec": { "f:items": { 'k:{"name":"y"}': { ".": {}, "f:name": {} } } } } },
    },
    {
      name: "a list item is removed with its keys, even when another manager has set a field in it; null is left of the list",
      given: world()
        .apply("alice", { a: "1", items: [{ name: "x" }] })
        .update("ctl", { a: "1", items: [{ name: "x", value: "v" }] })
        .apply("alice", { a: "1" }),
      spec: { a: "1", items: null },
      owners: { "alice Apply": { "f:spec": { "f:a": {} } } },
    },
    {
      name: "a list is removed with its last item",
      given: world()
        .apply("alice", { a: "1", tags: ["x"] })
        .apply("alice", { a: "1" }),
      spec: { a: "1" },
      owners: { "alice Apply": { "f:spec": { "f:a": {} } } },
    },
    {
      name: "a missing key counts as its default, but is not owned",
      given: world()
        .apply("alice", { ports: [{ port: 80 }] })
        .apply("bob", { ports: [{ port: 80, protocol: "TCP", name: "web" }] }),
      spec: { ports: [{ port: 80, protocol: "TCP", name: "web" }] },
      owners: {
        "alice Apply": { "f:spec": { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } } } },
        "bob Apply": {
          "f:spec": { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:name": {}, "f:port": {}, "f:protocol": {} } } },
        },
      },
    },
    {
      name: "force takes fields from their owners and leaves them the rest",
      given: world().apply("alice", { a: "1", n: 1 }).apply("bob", { a: "2" }, { force: true }),
      spec: { a: "2", n: 1 },
      owners: { "alice Apply": { "f:spec": { "f:n": {} } }, "bob Apply": { "f:spec": { "f:a": {} } } },
    },
    {
      name: "atomic lists and maps are owned and replaced as a whole",
      given: world()
        .apply("alice", { plain: [{ name: "x" }], whole: { x: "1" } })
        .apply("bob", { plain: [{ name: "y" }], whole: { y: "2" } }, { force: true }),
      spec: { plain: [{ name: "y" }], whole: { y: "2" } },
      owners: { "bob Apply": { "f:spec": { "f:plain": {}, "f:whole": {} } } },
    },
    {
      name: "an empty apply removes all fields of the manager",
      given: world().apply("alice", { a: "1" }).apply("bob", { n: 1 }).apply("alice", undefined),
      spec: { n: 1 },
      owners: { "bob Apply": { "f:spec": { "f:n": {} } } },
    },
    {
      name: "null owns the field and keeps a live list",
      given: world()
        .update("ctl", { tags: ["x"] })
        .apply("alice", { a: null }),
      spec: { tags: ["x"], a: null },
      owners: { "alice Apply": { "f:spec": { "f:a": {} } }, "ctl Update": { "f:spec": { ".": {}, "f:tags": { ".": {}, 'v:"x"': {} } } } },
    },
    {
      name: "fields that existed before the first apply belong to before-first-apply",
      given: world().update("ctl", { a: "1" }).update("ctl", { a: "2" }).apply("alice", { n: 1 }),
      spec: { a: "2", n: 1 },
      owners: { "alice Apply": { "f:spec": { "f:n": {} } }, "ctl Update": { "f:spec": { ".": {}, "f:a": {} } } },
    },
  ])("$name", ({ given, spec, owners }) => {
    expect(given.spec).toEqual(spec);
    expect(given.owners).toEqual(owners);
  });

  it.each<{ name: string; filled: JsonObject; want: unknown }>([
    { name: "stays", filled: { a: "1" }, want: { a: "1" } },
    { name: "is removed when it contains an empty list (a quirk of real servers)", filled: { a: "1", tags: [] }, want: undefined },
  ])("what was applied as null, has filled since and is applied as null again $name", ({ filled, want }) => {
    const nothing = { ...widget(undefined), spec: null };
    const given = world();
    expectOk(given.tryApply("alice", nothing));
    given.live = { ...given.live, spec: filled };
    expectOk(given.tryApply("alice", nothing));
    expect(given.spec).toEqual(want);
  });

  it("names the owner of unmanaged fields before-first-apply", () => {
    const given = world();
    given.live = widget({ a: "1" }, { uid: "u-1" });
    given.apply("alice", { n: 1 });
    expect(given.owners).toEqual({
      "alice Apply": { "f:spec": { "f:n": {} } },
      "before-first-apply Update": { "f:spec": { ".": {}, "f:a": {} } },
    });
  });
});

describe("applyPatch: conflicts", () => {
  it("names the owner, its version when it updates, and the field", () => {
    const given = world().update("kubectl", { a: "1" });
    expect(given.tryApply("alice", widget({ a: "2" }))).toEqual({
      ok: false,
      error: {
        kind: "conflict",
        message: 'Apply failed with 1 conflict: conflict with "kubectl" using test.dev/v1: .spec.a',
        conflicts: [
          {
            manager: "kubectl",
            operation: "Update",
            apiVersion: "test.dev/v1",
            fieldPath: ".spec.a",
            message: 'conflict with "kubectl" using test.dev/v1',
          },
        ],
      },
    });
  });

  it("lists several by owner, with their subresource", () => {
    const given = world().apply("alice", { a: "1", items: [{ name: "x", value: "1" }] });
    expectOk(given.tryApply("bob", { ...widget({ a: "1" }), status: { phase: "P" } }, { subresource: "status" }));
    const refused = given.tryApply("carol", { ...widget({ a: "2", items: [{ name: "x", value: "2" }] }), status: { phase: "Q" } });
    expect(refused).toMatchObject({
      error: {
        message: [
          'Apply failed with 4 conflicts: conflicts with "alice":',
          "- .spec.a",
          '- .spec.items[name="x"].value',
          'conflicts with "bob" with subresource "status":',
          "- .spec.a",
          "- .status.phase",
        ].join("\n"),
      },
    });
  });

  it("do not occur for equal values: both managers own the field, the second without a time", () => {
    const given = world().apply("alice", { a: "1" }).apply("bob", { a: "1" });
    expect(given.owners).toEqual({ "alice Apply": { "f:spec": { "f:a": {} } }, "bob Apply": { "f:spec": { "f:a": {} } } });
    expect(given.times).toEqual({ "bob Apply": undefined, "alice Apply": "2026-01-01T00:00:10Z" });
  });

  it("lets kubectl take over fields of a client-side apply, and updates its annotation", () => {
    const lastApplied = JSON.stringify(widget({ a: "1" }));
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": lastApplied, note: null };
    const given = world();
    given.live = widget({ a: "1", n: 1 }, { annotations });
    expect(given.tryApply("alice", widget({ a: "2" })).ok).toBe(false);
    expect(given.tryApply("kubectl", widget({ a: "2", n: 2 }))).toMatchObject({ error: { conflicts: [{ fieldPath: ".spec.n" }] } });
    expectOk(given.tryApply("kubectl", widget({ a: "<2>" }, { annotations: null })));
    expect(fieldAt(given.live, "metadata", "annotations")).toEqual({
      "kubectl.kubernetes.io/last-applied-configuration":
        '{"apiVersion":"test.dev/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"a":"\\u003c2\\u003e"}}\n',
      note: "",
    });
  });

  it.each([
    { name: "is not JSON", text: "{" },
    { name: "is of another version", text: '{"apiVersion":"other/v1"}' },
    { name: "does not fit the schema", text: JSON.stringify(widget({ nope: 1 })) },
  ])("gives kubectl nothing when its annotation $name", ({ text }) => {
    const given = world();
    given.live = widget({ a: "1" }, { annotations: { "kubectl.kubernetes.io/last-applied-configuration": text } });
    expect(given.tryApply("kubectl", widget({ a: "2" }))).toMatchObject({ error: { kind: "conflict" } });
  });

  it("drops kubectl's annotation when it would be too large", () => {
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", own: "x" };
    const given = world();
    given.live = widget({}, { annotations });
    expectOk(given.tryApply("kubectl", widget({ a: "x".repeat(300_000) }, { annotations })));
    expect(fieldAt(given.live, "metadata", "annotations")).toEqual({ own: "x" });
  });
});

describe("applyPatch: errors", () => {
  const deep = () => {
    let spec: JsonObject = {};
    for (let depth = 0; depth < 200_000; depth++) spec = { free: spec };
    return spec;
  };
  type Row = { name: string; applied: JsonObject; live?: JsonObject; want: unknown };
  it.each<Row>([
    {
      name: "an undeclared field",
      applied: widget({ nope: 1 }),
      want: {
        kind: "invalid",
        message: "failed to create typed patch object (/w; test.dev/v1, Kind=Widget): .spec.nope: field not declared in schema",
      },
    },
    {
      name: "several errors, one line each",
      applied: widget({ a: 1, n: "x", on: "yes", tags: ["q", "q"] }, { namespace: "ns" }),
      want: {
        kind: "invalid",
        message: [
          "failed to create typed patch object (ns/w; test.dev/v1, Kind=Widget): errors:",
          "  .spec.a: expected string, got &value.valueUnstructured{Value:1}",
          "  .spec.n: expected numeric (int or float), got string",
          "  .spec.on: expected boolean, got &{yes}",
          '  .spec.tags: duplicate entries for key [="q"]',
        ].join("\n"),
      },
    },
    {
      name: "another kind",
      applied: { ...widget({}), kind: "Gadget" },
      want: { kind: "bad-request", message: "invalid object type: test.dev/v1, Kind=Gadget" },
    },
    {
      name: "the core group's version",
      applied: { kind: "Pod", apiVersion: "v1" },
      want: { kind: "bad-request", message: "invalid object type: /v1, Kind=Pod" },
    },
    {
      name: "managedFields",
      applied: widget({}, { managedFields: [] }),
      want: { kind: "bad-request", message: "metadata.managedFields must be nil" },
    },
    {
      name: "any apply to an object with invalid managedFields",
      applied: widget({}),
      live: widget({}, { managedFields: [{ operation: "Nope" }] }),
      want: { kind: "invalid", message: "failed to decode managed fields: operation must be `Apply` or `Update`" },
    },
    {
      name: "any apply to a stored object that violates its schema",
      applied: widget({}),
      live: widget({ a: 1 }, { managedFields: [{ operation: "Apply", apiVersion: "test.dev/v1", fieldsType: "FieldsV1" }] }),
      want: {
        kind: "invalid",
        message: expect.stringContaining("failed to create typed live object (/w; test.dev/v1, Kind=Widget): .spec.a") as unknown,
      },
    },
    {
      name: "any apply to an unmanaged object that violates its schema",
      applied: widget({}),
      live: widget({ a: 1 }),
      want: {
        kind: "invalid",
        message: expect.stringContaining("failed to create manager for existing fields: failed to convert new object") as unknown,
      },
    },
    {
      name: "too deep nesting",
      applied: widget(deep()),
      want: { kind: "invalid", message: expect.stringContaining("nested deeper than 100 levels") as unknown },
    },
  ])("refuses $name", ({ applied, live, want }) => {
    const given = world();
    given.live = live;
    expect(given.tryApply("alice", applied)).toMatchObject({ ok: false, error: want });
  });
});

describe("metadata and subresources", () => {
  it("fields that every object has are not owned", () => {
    const given = world();
    const metadata = { namespace: "ns", uid: "u", resourceVersion: "1", generation: 1, creationTimestamp: null, labels: { l: "1" } };
    expectOk(given.tryUpdate("ctl", widget(undefined, metadata)));
    expect(given.owners).toEqual({ "ctl Update": { "f:metadata": { "f:labels": { ".": {}, "f:l": {} } } } });
  });

  it("a manager without a name is unknown", () => {
    expect(Object.keys(world().apply("", { a: "1" }).owners)).toEqual(["unknown Apply"]);
  });

  it("a write to the main resource does not own the status, a write to the status owns only the status", () => {
    const only = (...names: string[]) => new Map([[widgetKind.apiVersion, excluding(fieldSetOf(...names.map((name) => fieldPath(name))))]]);
    const given = world();
    expectOk(given.tryApply("alice", { ...widget({ a: "1" }), status: { phase: "P" } }, { resetFields: only("status") }));
    expectOk(
      given.tryUpdate(
        "ctl",
        { ...widget({ a: "2" }), status: { phase: "Q" } },
        { resetFields: only("spec", "metadata"), subresource: "status" },
      ),
    );
    expect(given.owners).toEqual({ "alice Apply": { "f:spec": { "f:a": {} } }, "ctl Update status": { "f:status": { "f:phase": {} } } });
  });

  it("a subresource cannot rewrite managedFields", () => {
    const given = world().apply("alice", { a: "1" });
    expectOk(given.tryUpdate("ctl", widget({ a: "1" }, { managedFields: [] }), { subresource: "status" }));
    expect(Object.keys(given.owners)).toEqual(["alice Apply"]);
  });
});
