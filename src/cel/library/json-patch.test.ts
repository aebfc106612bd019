import { expect, it } from "vitest";
import { runOverload } from "../declarations.ts";
import { Meter } from "../meter.ts";
import { CelFailure, NO_SUCH_OVERLOAD, type CelValue } from "../values.ts";
import { jsonPatch } from "./json-patch.ts";

function escape(value: CelValue): CelValue | undefined {
  const overload = jsonPatch().get("jsonpatch.escapeKey")?.[0];
  return overload === undefined ? undefined : runOverload(overload, [value], new Meter(1_000_000));
}

it("escapes the special characters of a pointer", () => {
  expect(escape("k8s.io/my~label")).toBe("k8s.io~1my~0label");
  expect(escape(1n)).toBe(NO_SUCH_OVERLOAD);
});

it("refuses a result above the length limit of texts", () => {
  expect(escape("/".repeat(3_000_000))).toBeInstanceOf(CelFailure);
});
