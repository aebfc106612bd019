import { describe, expect, it } from "vitest";
import * as z from "zod";
import { formatFieldError, formatPath, toFieldErrors } from "./field-error.ts";
import { parseLatticeService } from "./lattice-service.ts";
import { toStructural } from "./structural.ts";

describe("toFieldErrors", () => {
  const rows: { name: string; schema: z.ZodType; given: unknown; want: string }[] = [
    { name: "a missing field without a description", schema: z.string(), given: undefined, want: "a: is required" },
    { name: "a missing choice", schema: z.enum(["x", "y"]).describe("Which."), given: undefined, want: "a: is required: Which." },
    { name: "null", schema: z.string(), given: null, want: "a: must be a string, and is null" },
    { name: "a list for a number", schema: z.number(), given: [], want: "a: must be a number, and is a list" },
    { name: "a string for a flag", schema: z.boolean(), given: "yes", want: "a: must be true or false, and is a string" },
    { name: "an object for a choice", schema: z.enum(["x", "y"]), given: {}, want: "a: must be one of x, y, and is an object" },
    { name: "empty text", schema: z.string().min(1), given: "", want: "a: must not be empty" },
    { name: "text that is too short", schema: z.string().min(3), given: "b", want: "a: must be at least 3" },
    { name: "an empty list", schema: z.array(z.string()).min(1), given: [], want: "a: must not be empty" },
    { name: "a long list", schema: z.array(z.string()).max(1), given: ["b", "c"], want: "a: must have at most 1 items, and has 2" },
    { name: "a number that JavaScript cannot hold", schema: z.int(), given: 2 ** 60, want: "a: is too large" },
    { name: "a number that is too small", schema: z.int().min(1), given: 0, want: "a: must be at least 1, and is 0" },
    { name: "a type that has no name of ours", schema: z.bigint(), given: 1, want: "a: must be bigint, and is a number" },
  ];
  it.each(rows)("$name", ({ schema, given, want }) => {
    const parsed = z.strictObject({ a: schema }).safeParse({ a: given }, { reportInput: true });
    const structural = schema instanceof z.ZodBigInt ? {} : toStructural(z.strictObject({ a: schema }));
    expect(toFieldErrors(parsed.error?.issues ?? [], structural).map(formatFieldError)).toEqual([want]);
  });

  it("lists the valid names if none is similar", () => {
    const schema = z.strictObject({ name: z.string().optional(), image: z.string().optional() });
    const { error } = schema.safeParse({ zzzz: 1 }, { reportInput: true });
    expect(toFieldErrors(error?.issues ?? [], toStructural(schema))).toEqual([
      { kind: "unknown-field", path: "zzzz", message: 'unknown field "zzzz"; known here: name, image' },
    ]);
  });
});

it("an error about the whole object has no path to print", () => {
  expect(formatFieldError({ kind: "invalid", path: "", message: "m" })).toBe("m");
});

it("paths have map keys and list indexes in brackets", () => {
  const root = { properties: { a: { additionalProperties: { properties: { b: { items: {} } } } } } };
  expect(formatPath(root, ["a", "x.y/z", "b", 0, "c"])).toBe("a[x.y/z].b[0].c");
});

describe("very many errors in one object", () => {
  const service = (spec: object) =>
    parseLatticeService({ apiVersion: "lattice.dev/v1alpha1", kind: "LatticeService", metadata: { name: "a", namespace: "b" }, spec });

  it("are listed up to 100, and the rest is counted", () => {
    const unknown = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`contianers${at}`, 1]));
    const parsed = service({ containers: { main: { image: "i" } }, ...unknown });
    const errors = parsed.ok ? [] : parsed.error;
    expect(errors).toHaveLength(101);
    expect(errors.at(-1)).toEqual({ kind: "invalid", path: "", message: "49900 further mistakes are not listed; correct these first" });
  });

  it("have long keys truncated", () => {
    const parsed = service({ containers: { main: { image: "i", variables: { ["-".repeat(500_000)]: "x" } } } });
    expect(parsed.ok ? [] : parsed.error.map(({ path, message }) => path.length + message.length < 3_000)).toEqual([true]);
  });
});
