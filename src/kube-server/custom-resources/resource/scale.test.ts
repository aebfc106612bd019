/** The scale subresource: which replicas are refused. */
import { describe, expect, test } from "vitest";
import { create, crdOf, linesOf, typeOf, update, widget } from "../widget.test-support.ts";

const PATHS = { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n", labelSelectorPath: ".status.sel" };
const ANY = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const type = typeOf(crdOf({ type: "object", properties: { spec: ANY, status: ANY } }, { subresources: { status: {}, scale: PATHS } }));

describe("replicas", () => {
  test.each([
    { given: { n: -1 }, want: [".spec.n: Invalid value: -1: should be a non-negative integer"] },
    { given: { n: 2 ** 31 }, want: [".spec.n: Invalid value: 2147483648: should be less than or equal to 2147483647"] },
    { given: { n: 1.5 }, want: [".spec.n: Invalid value: 0: .spec.n accessor error: 1.5 is of the type float64, expected int64"] },
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
