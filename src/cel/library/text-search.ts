/**
 * Search in long texts in linear time, and positions in code points. The engine's own search takes quadratic time for a long part and a text
 * that repeats most of it.
 */
import type { Meter } from "../meter.ts";

/** Up to this length the engine's search is fast for any texts. */
const SHORT = 32;

/** The first position of `part` at or after the offset; -1 if there is none. Offsets are in code units. */
export function findText(text: string, part: string, from: number): number {
  return part.length <= SHORT ? text.indexOf(part, from) : searchLinear(text, part, { from, last: text.length, stop: "first" });
}

/** The last position at or before the offset. */
export function findLastText(text: string, part: string, last: number): number {
  return part.length <= SHORT ? text.lastIndexOf(part, last) : searchLinear(text, part, { from: 0, last, stop: "last" });
}

type Search = { readonly from: number; readonly last: number; readonly stop: "first" | "last" };

/** Knuth, Morris and Pratt: each character of the text is read once. */
function searchLinear(text: string, part: string, { from, last, stop }: Search): number {
  const borders = bordersOf(part);
  let found = -1;
  let matched = 0;
  const end = Math.min(text.length, last + part.length);
  for (let at = from; at < end; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === unit) matched += 1;
    if (matched < part.length) continue;
    found = at - part.length + 1;
    if (stop === "first") return found;
    matched = borders[matched - 1] ?? 0;
  }
  return found;
}

/** For each prefix of the text, the length of its longest proper prefix that is also its suffix. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at++) {
    while (length > 0 && text.charCodeAt(at) !== text.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (text.charCodeAt(at) === text.charCodeAt(length)) length += 1;
    borders[at] = length;
  }
  return borders;
}

/** The offset in code units of a position in code points, which must be inside the text or at its end. */
export function offsetOf(text: string, position: number, meter: Meter): number {
  if (meter.characters(text) === text.length) return position;
  meter.work(position);
  let offset = 0;
  for (let left = position; left > 0; left--) offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  return offset;
}

/** The position in code points of an offset in code units. */
export function positionOf(text: string, offset: number, meter: Meter): number {
  if (meter.characters(text) === text.length) return offset;
  meter.work(offset);
  let position = 0;
  for (let at = 0; at < offset; position++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return position;
}
