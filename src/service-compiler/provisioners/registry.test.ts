import { expect, test } from "vitest";
import { ok } from "#base";
import { canHaveRoute, registryWith } from "./registry.ts";

const own = { type: "postgres", provision: () => ok({ outputs: new Map() }) };

test.each([
  { name: "a route", type: "route", want: true },
  { name: "a built-in type without routes", type: "postgres", want: false },
  { name: "a type that does not exist", type: "nonsense", want: false },
])("$name can have a route: $want", ({ type, want }) => {
  expect(canHaveRoute(registryWith(), type)).toBe(want);
});

test("a type that replaces a built-in one can have a route", () => {
  expect(canHaveRoute(registryWith([own]), "postgres")).toBe(true);
});
