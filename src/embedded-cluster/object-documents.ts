/** Objects from the options, as documents: a mistake is reported with the number and name of the object instead of file and line. */
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
  const title = [kind, name].filter((part) => typeof part === "string").join(" ");
  return title === "" ? `object ${index + 1}` : `object ${index + 1} (${title})`;
}
