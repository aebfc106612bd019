/** The scale subresource: where replicas are read and written. */
import { describe, expect, test } from "vitest";
import { create, crdOf, linesOf, typeOf, update, widget } from "../widget.test-support.ts";
import { readScale, withReplicas } from "./scale.ts";

const PATHS = { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n", labelSelectorPath: ".status.sel" };
const ANY = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const type = typeOf(crdOf({ type: "object", properties: { spec: ANY, status: ANY } }, { subresources: { status: {}, scale: PATHS } }));

describe("replicas", () => {
  test.each([
    { name: "are read with the selector", given: { spec: { n: 3 }, status: { n: 2, sel: "a=b" } }, want: [3, 2, "a=b"] },
    { name: "may not be there", given: {}, want: [undefined, 0, ""] },
  ])("$name", ({ given, want }) => {
    const read = readScale(given, PATHS);
    expect(read.ok ? [read.value.specReplicas, read.value.statusReplicas, read.value.selector] : read).toEqual(want);
  });

  test("are all there is without a selector", () => {
    expect(readScale({ spec: { n: 1 } }, { ...PATHS, labelSelectorPath: undefined })).toMatchObject({ ok: true, value: { selector: "" } });
  });

  test.each([
    { given: { spec: { n: "3" } }, want: ".spec.n accessor error: 3 is of the type string, expected int64" },
    { given: { spec: 5 }, want: ".spec.n accessor error: 5 is of the type int64, expected map[string]interface{}" },
    { given: { status: { n: 1.5 } }, want: ".status.n accessor error: 1.5 is of the type float64, expected int64" },
    { given: { status: { sel: 1 } }, want: ".status.sel accessor error: 1 is of the type int64, expected string" },
  ])("cannot be read from $given", ({ given, want }) => {
    expect(readScale(given, PATHS)).toEqual({ ok: false, error: want });
  });

  test("are written where they belong, and nothing else changes", () => {
    expect(withReplicas({ spec: { a: 1, n: 2 }, kind: "x" }, PATHS, 5)).toEqual({ spec: { a: 1, n: 5 }, kind: "x" });
    expect(withReplicas({}, { ...PATHS, specReplicasPath: ".spec.a.b" }, 5)).toEqual({ spec: { a: { b: 5 } } });
  });

  test.each([
    { given: { n: -1 }, want: [".spec.n: Invalid value: -1: should be a non-negative integer"] },
    { given: { n: 2 ** 31 }, want: [".spec.n: Invalid value: 2147483648: should be less than or equal to 2147483647"] },
    { given: { n: "x" }, want: [".spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, expected int64"] },
  ])("are refused when an object is written with $given", ({ given, want }) => {
    expect(linesOf(create(type, widget(given)))).toEqual(want);
  });

  test("of a status are checked when the status is written", () => {
    const before = widget({ n: -1 });
    expect(linesOf(update(type, before, widget({ n: -1 }, { status: { n: -1, sel: 5 } }), "status"))).toEqual([
      ".status.n: Invalid value: -1: should be a non-negative integer",
      '.status.sel: Invalid value: "": .status.sel accessor error: 5 is of the type int64, expected string',
    ]);
  });
});
