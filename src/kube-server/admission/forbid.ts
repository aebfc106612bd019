/** A 403 of admission with the name of the object, or with its generateName. */
import type { Err } from "#base";
import { metaText } from "../protocol/object-meta.ts";
import { forbidden, type Failure } from "../protocol/status.ts";
import type { Attributes } from "../protocol/admission-port.ts";

export function forbid(attributes: Attributes, why: string): Err<Failure> {
  return forbidden({ resource: attributes.type.resource, name: nameOf(attributes) }, why);
}

function nameOf({ name, object }: Attributes): string {
  const known = [name, metaText(object, "name"), metaText(object, "generateName")];
  return known.find((one) => one !== "") ?? "Unknown";
}
