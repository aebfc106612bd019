import { expectOk } from "#base";
import { fieldAt, type Json } from "#kube";
import { describe, expect, it } from "vitest";
import { MAX_UPDATE_MANAGERS } from "./cap-managers.ts";
import { emptyObjectOf } from "./empty-objects.ts";
import { keepTimesIfUnchanged } from "./unchanged-times.ts";
import { deduced } from "./schema.ts";
import { widget, WidgetWorld } from "./widget.test-support.ts";

const world = () => new WidgetWorld();

describe("trackUpdate", () => {
  it("makes the creator the owner of all fields, including maps and list items", () => {
    expect(world().update("ctl", { a: "1", map: { k: "v" }, items: [{ name: "x" }] }).owners).toEqual({
      "ctl Update": {
        "f:spec": {
          ".": {},
          "f:a": {},
          "f:items": { ".": {}, 'k:{"name":"x"}': { ".": {}, "f:name": {} } },
          "f:map": { ".": {}, "f:k": {} },
        },
      },
    });
  });

  it("moves a changed field to its writer, and changes the time only then", () => {
    const given = world().update("one", { a: "1", n: 1 }).update("two", { a: "2", n: 1 }).update("two", { a: "2", n: 1 });
    expect(given.owners).toEqual({ "one Update": { "f:spec": { ".": {}, "f:n": {} } }, "two Update": { "f:spec": { "f:a": {} } } });
    expect(given.times).toEqual({ "one Update": "2026-01-01T00:00:10Z", "two Update": "2026-01-01T00:00:11Z" });
  });

  it("adds to the fields of the same manager, and drops removed fields", () => {
    const given = world().update("ctl", { a: "1" }).update("ctl", { a: "1", n: 1 }).update("other", { n: 1 });
    expect(given.owners).toEqual({ "ctl Update": { "f:spec": { ".": {}, "f:n": {} } } });
  });

  it("keeps one entry per subresource", () => {
    const given = world().update("ctl", { a: "1" });
    expectOk(given.tryUpdate("ctl", widget({ a: "2" }), { subresource: "status" }));
    expect(Object.keys(given.owners)).toEqual(["ctl Update", "ctl Update status"]);
  });

  it("owns duplicates in a list as a whole, and a single item again field by field", () => {
    const given = world().update("ctl", { items: [{ name: "x", value: "1" }] });
    given.update("dup", {
      items: [
        { name: "x", value: "1" },
        { name: "x", value: "2" },
      ],
    });
    expect(given.owners["dup Update"]).toEqual({ "f:spec": { "f:items": { 'k:{"name":"x"}': {} } } });
    given.update("dup2", {
      items: [
        { name: "x", value: "1" },
        { name: "x", value: "3" },
      ],
    });
    expect(given.owners["dup2 Update"]).toEqual({ "f:spec": { "f:items": { 'k:{"name":"x"}': {} } } });
    given.update("single", { items: [{ name: "x", value: "4" }] });
    expect(given.owners["single Update"]).toEqual({
      "f:spec": { "f:items": { 'k:{"name":"x"}': { ".": {}, "f:name": {}, "f:value": {} } } },
    });
  });

  it("joins the oldest updaters when there are more than ten", () => {
    const given = world();
    for (let index = 0; index < 13; index++)
      given.update(`m${String(index).padStart(2, "0")}`, {
        map: Object.fromEntries(Array.from({ length: index + 1 }, (_, key) => [`k${key}`, "v"])),
      });
    const names = Object.keys(given.owners);
    expect(names).toHaveLength(MAX_UPDATE_MANAGERS);
    expect(names[0]).toBe("ancient-changes Update");
    expect(given.owners["ancient-changes Update"]).toEqual({
      "f:spec": { ".": {}, "f:map": { ".": {}, "f:k0": {}, "f:k1": {}, "f:k2": {}, "f:k3": {} } },
    });
    expect(given.times["ancient-changes Update"]).toBe("2026-01-01T00:00:13Z");
  });

  it.each<{ name: string; managedFields: Json; want: string[] }>([
    { name: "an empty list clears", managedFields: [], want: [] },
    { name: "one blank entry clears", managedFields: [{}], want: [] },
    { name: "null is left out", managedFields: null, want: ["alice Apply"] },
    { name: "garbage is ignored", managedFields: [{ manager: "x", operation: "Nope" }], want: ["alice Apply"] },
    { name: "a value that is not a list is ignored", managedFields: "x", want: ["alice Apply"] },
    {
      name: "a valid list replaces the old one, without invalid times",
      managedFields: [
        {
          manager: "bob",
          operation: "Apply",
          apiVersion: "test.dev/v1",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:spec": { "f:a": {} } },
          time: "soon",
        },
      ],
      want: ["bob Apply"],
    },
  ])("managedFields in a request: $name", ({ managedFields, want }) => {
    const given = world().apply("alice", { a: "1" });
    expectOk(given.tryUpdate("ctl", widget({ a: "1" }, { uid: "u", managedFields })));
    expect(Object.keys(given.owners)).toEqual(want);
  });

  it("tracks nothing after managedFields are cleared, until the next apply", () => {
    const given = world().update("ctl", { a: "1" });
    expectOk(given.tryUpdate("ctl", widget({ a: "1" }, { uid: "u-1", managedFields: [] })));
    expect(given.owners).toEqual({});
    expect(given.update("ctl", { a: "2" }).owners).toEqual({});
    expect(Object.keys(given.apply("alice", { n: 1 }).owners)).toEqual(["alice Apply", "before-first-apply Update"]);
  });

  it.each([
    { name: "the new object", old: widget({}), next: widget({ a: 1 }), want: "failed to convert new object" },
    { name: "the stored one", old: widget({ a: 1 }), next: widget({}), want: "failed to convert live object" },
  ])("says that $name does not fit: it is stored without managedFields then", ({ old, next, want }) => {
    const given = world();
    given.live = old;
    expect(given.tryUpdate("ctl", next)).toMatchObject({ error: { kind: "invalid", message: expect.stringContaining(want) as unknown } });
  });

  it("assigns no owner to the structs of a built-in kind", () => {
    const kind = { apiVersion: "apps/v1", kind: "Deployment", schema: deduced, emptyObject: emptyObjectOf("apps/v1", "Deployment") };
    const given = world();
    const metadata = { name: "d" };
    expectOk(
      given.tryUpdate(
        "ctl",
        { ...kind.emptyObject, apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { replicas: 1, strategy: {} } },
        kind,
      ),
    );
    expect(given.owners).toEqual({ "ctl Update": { "f:spec": { "f:replicas": {} } } });
    expect(emptyObjectOf("test.dev/v1", "Widget")).toEqual({});
  });
});

describe("keepTimesIfUnchanged", () => {
  const entry = (time: string, fieldsV1 = {}) => ({ manager: "m", operation: "Update", time, fieldsV1 });
  const object = (a: string, ...managedFields: Json[]) => widget({ a }, { managedFields });

  it.each([
    { name: "restores times that are the only change", next: object("1", entry("t2")), want: ["t1"] },
    { name: "keeps them when the object changed", next: object("2", entry("t2")), want: ["t2"] },
    { name: "keeps them when the owners changed", next: object("1", entry("t2", { "f:x": {} })), want: ["t2"] },
    { name: "keeps them when there are more owners", next: object("1", entry("t1"), entry("t2")), want: ["t1", "t2"] },
    { name: "changes nothing without managedFields", next: widget({ a: "1" }), want: [] },
    { name: "keeps invalid entries", next: object("1", "x"), want: [undefined] },
  ])("$name", ({ next, want }) => {
    const entries = fieldAt(keepTimesIfUnchanged(object("1", entry("t1")), next), "metadata", "managedFields");
    expect((Array.isArray(entries) ? entries : []).map((item) => fieldAt(item, "time"))).toEqual(want);
  });
});
