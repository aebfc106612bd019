import { expect, it } from "vitest";
import { jsonPatch } from "./json-patch.ts";
import { NO_SUCH_OVERLOAD } from "../values.ts";

it("escapes what means something in a pointer", () => {
  const escape = jsonPatch().get("jsonpatch.escapeKey")?.[0]?.evaluate;
  expect(escape?.("k8s.io/my~label")).toBe("k8s.io~1my~0label");
  expect(escape?.(1n)).toBe(NO_SUCH_OVERLOAD);
});
