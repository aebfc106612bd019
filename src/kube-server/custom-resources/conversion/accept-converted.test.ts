/** The changes that a conversion webhook may make, and the errors for others. */
import { describe, expect, test } from "vitest";
import { ok } from "#base";
import type { Json, JsonObject } from "#kube";
import { acceptAll } from "./accept-converted.ts";

const WANTED = "a.io/v2";
const original: JsonObject = {
  apiVersion: "a.io/v1",
  kind: "Widget",
  metadata: { name: "x", namespace: "n", uid: "u", labels: { a: "1" }, generation: 1 },
  spec: { a: 1 },
};
const converted = (more: JsonObject = {}): JsonObject => ({ ...original, apiVersion: WANTED, ...more });
const metadata = (more: JsonObject): JsonObject => converted({ metadata: { ...(original["metadata"] as JsonObject), ...more } });

test("only labels and annotations of the converted metadata are used", () => {
  const given = metadata({ labels: { b: "2" }, annotations: { c: "3" }, generation: 9, finalizers: ["f"] });
  expect(acceptAll([original], [{ ...given, spec: { b: 2 } }], WANTED)).toEqual(
    ok([
      {
        apiVersion: WANTED,
        kind: "Widget",
        metadata: { name: "x", namespace: "n", uid: "u", generation: 1, labels: { b: "2" }, annotations: { c: "3" } },
        spec: { b: 2 },
      },
    ]),
  );
});

test("omitted labels are removed, and unchanged ones are not validated again", () => {
  const odd = { ...original, metadata: { name: "x", labels: { "a/b/c": "x" } } };
  expect(acceptAll([odd], [{ ...odd, apiVersion: WANTED }], WANTED).ok).toBe(true);
  expect(acceptAll([original], [metadata({ labels: null })], WANTED)).toMatchObject(
    ok([{ metadata: { name: "x", namespace: "n", uid: "u", generation: 1 } }]),
  );
});

describe("one object", () => {
  const head = "conversion webhook for a.io/v1, Kind=Widget";
  const rows: readonly { readonly name: string; readonly given: readonly Json[]; readonly want: string }[] = [
    { name: "is missing", given: [], want: `${head} returned 0 objects, expected 1` },
    { name: "is null", given: [null], want: "unexpected end of JSON input" },
    { name: "is a number", given: [5], want: "json: cannot unmarshal number into Go value of type map[string]interface {}" },
    { name: "is a list", given: [[]], want: "json: cannot unmarshal array into Go value of type map[string]interface {}" },
    { name: "is a boolean", given: [true], want: "json: cannot unmarshal bool into Go value of type map[string]interface {}" },
    { name: "has no kind", given: [{ a: 1 }], want: "Object 'Kind' is missing in '{\"a\":1}'" },
    {
      name: "is in another version",
      given: [original],
      want: `${head} returned invalid object at index 0: invalid groupVersion (expected a.io/v2, received a.io/v1)`,
    },
    {
      name: "is of another kind",
      given: [converted({ kind: "Gizmo" })],
      want: `${head} returned invalid object at index 0: invalid kind (expected Widget, received Gizmo)`,
    },
    {
      name: "has another name",
      given: [metadata({ name: "y" })],
      want: `${head} returned invalid object: must have the same name: x != y`,
    },
    {
      name: "is in another namespace",
      given: [metadata({ namespace: "m" })],
      want: `${head} returned invalid object: must have the same namespace: n != m`,
    },
    { name: "has lost its uid", given: [metadata({ uid: "" })], want: `${head} returned invalid object: must have the same UID: u != ` },
    {
      name: "has a number for labels",
      given: [metadata({ labels: 5 })],
      want: `${head} returned invalid metadata: invalid metadata.labels of type int64 in converted object`,
    },
    {
      name: "has a number in a label",
      given: [metadata({ labels: { a: 5 } })],
      want: `${head} returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object`,
    },
    {
      name: "has a bad label",
      given: [metadata({ labels: { a: "no no" } })],
      want: `${head} returned invalid metadata: metadata.labels: Invalid value: "no no"`,
    },
    {
      name: "has a bad annotation",
      given: [metadata({ annotations: { "a/b/c": "" } })],
      want: `${head} returned invalid metadata: metadata.annotation: Invalid value: "a/b/c"`,
    },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    const accepted = acceptAll([original], given, WANTED);
    expect(accepted.ok ? "" : accepted.error).toContain(want);
  });
  test("without metadata is accepted, if the original had none", () => {
    const bare = { apiVersion: "a.io/v1", kind: "Widget" };
    expect(acceptAll([bare], [{ ...bare, apiVersion: WANTED }], WANTED)).toEqual({
      ok: false,
      error: `${head} returned invalid metadata: missing metadata in converted object`,
    });
    expect(acceptAll([bare], [{ ...bare, apiVersion: WANTED, metadata: 5 }], WANTED)).toMatchObject({
      error: expect.stringContaining("invalid metadata of type int64 in converted object"),
    });
  });
});

test("the error for several objects names the bad one", () => {
  const head = "conversion webhook for a.io/v1, Kind=Widget";
  const both = [original, original];
  expect(acceptAll(both, [converted(), metadata({ name: "y" })], WANTED)).toEqual({
    ok: false,
    error: `${head} returned invalid converted object at index 1: must have the same name: x != y`,
  });
  expect(acceptAll(both, [converted(), metadata({ labels: 5 })], WANTED)).toMatchObject({
    error: expect.stringContaining(`${head} returned invalid metadata in object at index 1`),
  });
});
