/** Objects that a test hands over, as documents: a mistake in one is told by its number and name instead of a file and line. */
import { field, fieldAt, type JsonObject } from "#kube";
import type { Document } from "./fixtures/index.ts";
import type { FixtureObject } from "./options.ts";

export function objectDocuments(objects: readonly FixtureObject[]): readonly Document[] {
  return objects.map((object, index) => ({
    place: { file: placeOf(object, index) },
    value: structuredClone(object) as unknown as JsonObject,
  }));
}

function placeOf(object: FixtureObject, index: number): string {
  const [kind, name] = [field(object, "kind"), fieldAt(object, "metadata", "name")];
  const said = [kind, name].filter((part) => typeof part === "string").join(" ");
  return said === "" ? `object ${index + 1}` : `object ${index + 1} (${said})`;
}
