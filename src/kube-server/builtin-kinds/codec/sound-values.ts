/**
 * A fast decoder for values without errors, which are nearly all: returns the value as Go would write it, and does not copy parts that are
 * already in that form.
 *
 * A value with errors or warnings (an unknown field, a wrong type, null in a list) is UNSOUND. Then the general decoder of go-json.ts reports
 * them. A property test checks that both agree.
 */
import { memoizeByObject } from "#base";
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { setField, type Draft } from "../draft.ts";
import { soundScalar } from "./go-scalars.ts";
import type { GoField, GoType } from "./go-types.ts";
import { isEmptyValue, zeroOf } from "./go-zero.ts";

type Struct = Extract<GoType, { readonly kind: "struct" }>;

export const UNSOUND = Symbol("unsound");

/** `like` is sound: parts that are shared with it are not checked. */
export function soundValue(type: GoType, value: Json, like?: Json): Json | typeof UNSOUND {
  if (value === like && typeof value === "object" && value !== null) return value;
  switch (type.kind) {
    case "any":
      return value;
    case "struct":
      return isJsonObject(value) ? soundStruct(type, value, like) : UNSOUND;
    case "map":
      return isJsonObject(value) ? soundMap(type.element, value, like) : UNSOUND;
    case "list":
      return Array.isArray(value) ? soundList(type.element, value, like) : UNSOUND;
    case "string":
      return typeof value === "string" ? value : UNSOUND;
    default:
      return soundScalar(type.kind, value) ?? UNSOUND;
  }
}

/** The fields of a struct with cached properties. */
type Layout = {
  readonly places: ReadonlyMap<string, Place>;
  readonly ordered: readonly Place[];
  /** How many fields are written even when they are not set. */
  readonly always: number;
};
type Place = { readonly known: GoField; readonly order: number; readonly always: boolean; readonly mayBeEmpty: boolean };

const layoutOf = memoizeByObject((type: Struct): Layout => {
  const ordered = [...type.fields().values()].map((known, order) => {
    return { known, order, always: zeroOf(known) !== undefined, mayBeEmpty: known.pointer || !known.omitEmpty };
  });
  return {
    places: new Map(ordered.map((place) => [place.known.name, place])),
    ordered,
    always: ordered.filter(({ always }) => always).length,
  };
});

function soundStruct(type: Struct, value: JsonObject, like: Json | undefined): JsonObject | typeof UNSOUND {
  const layout = layoutOf(type);
  const known = isJsonObject(like) ? like : undefined;
  let copy: Draft | undefined;
  let [last, always, asWritten] = [-1, 0, true];
  for (const name in value) {
    const place = layout.places.get(name);
    if (place === undefined) return UNSOUND;
    const inner = value[name];
    if (inner === undefined || inner === null) {
      asWritten = false;
      continue;
    }
    const sound = soundValue(place.known.type, inner, known?.[name]);
    if (sound === UNSOUND) return UNSOUND;
    if (sound !== inner) (copy ??= { ...value })[name] = sound;
    if (place.order < last || (!place.mayBeEmpty && isEmptyValue(place.known.type, sound))) asWritten = false;
    last = place.order;
    if (place.always) always += 1;
  }
  const read = copy ?? value;
  return asWritten && always === layout.always ? read : rewritten(layout, read);
}

/** In Go's order, without empty fields and with fields that are always written. */
function rewritten({ ordered }: Layout, read: JsonObject): JsonObject {
  const written: Draft = {};
  for (const { known, always, mayBeEmpty } of ordered) {
    const value = read[known.name];
    if (value === undefined || value === null) {
      if (always) written[known.name] = zeroOf(known);
    } else if (mayBeEmpty || !isEmptyValue(known.type, value)) written[known.name] = value;
  }
  return written;
}

function soundMap(element: GoType, value: JsonObject, like: Json | undefined): JsonObject | typeof UNSOUND {
  const known = isJsonObject(like) ? like : undefined;
  let copy: Draft | undefined;
  for (const name in value) {
    const inner = value[name];
    const sound = inner === undefined || inner === null ? UNSOUND : soundValue(element, inner, known?.[name]);
    if (sound === UNSOUND) return UNSOUND;
    if (sound !== inner) setField((copy ??= { ...value }), name, sound);
  }
  return copy ?? value;
}

function soundList(element: GoType, value: readonly Json[], like: Json | undefined): readonly Json[] | typeof UNSOUND {
  const known: readonly Json[] = Array.isArray(like) ? like : [];
  let copy: Json[] | undefined;
  for (let index = 0; index < value.length; index += 1) {
    const inner = value[index];
    const sound = inner === undefined || inner === null ? UNSOUND : soundValue(element, inner, known[index]);
    if (sound === UNSOUND) return UNSOUND;
    if (sound !== inner) (copy ??= [...value])[index] = sound;
  }
  return copy ?? value;
}
