import { expect, test } from "vitest";
import { readSchema } from "../schema/json-schema.ts";
import { effectiveFormat } from "./formats.ts";

test("a format that is unknown, or belongs to another type, has no effect", () => {
  const effective = (type: string, format: string): string => effectiveFormat(readSchema({ type, format }));
  expect(effective("string", "foo")).toBe("");
  expect(effective("string", "ipv4")).toBe("ipv4");
  expect(effective("integer", "ipv4")).toBe("");
  expect(effective("integer", "int32")).toBe("int32");
  expect(effective("number", "double")).toBe("double");
  expect(effective("boolean", "double")).toBe("");
  expect(effectiveFormat(readSchema({ "x-kubernetes-int-or-string": true, format: "ipv4" }))).toBe("ipv4");
});
