import fc from "fast-check";
import { test } from "vitest";
import { characters } from "./characters.ts";

test("counts code points, as the iterator of a text does, also with surrogates that have no partner", () => {
  const units = fc.array(fc.constantFrom("a", "é", "😀", "\ud83d", "\ude00"), { maxLength: 60 }).map((parts) => parts.join(""));
  fc.assert(fc.property(units, (text) => characters(text) === [...text].length));
});
