/**
 * Limits for the templates of one service: bytes of rendered text, and placeholders. Templates can read each other, so a few lines can
 * expand to gigabytes; every limit is checked before the text is joined.
 *
 * An exceeded budget stays exceeded: the rest of the service is not rendered, and only the first field is reported.
 */
import { reveal } from "#base";
import type { Value } from "./value.ts";

/** For one value, and for all values of a service together. */
export const MOST_RENDERED_BYTES = 1_048_576;
/** For all templates of a service together. */
export const MOST_PLACEHOLDERS = 10_000;
/** Limit of listed mistakes of one template. */
export const MOST_PROBLEMS = 10;

/** An external reference becomes an entry of an ExternalSecret; its own names are part of the size. */
const REFERENCE_BYTES = 256;

export class RenderBudget {
  #bytes = 0;
  #placeholders = 0;
  #exceeded = false;

  get isExceeded(): boolean {
    return this.#exceeded;
  }

  /** undefined: within the limit. Called before any of them is looked up. */
  takePlaceholders(count: number): string | undefined {
    this.#placeholders += count;
    return this.#placeholders <= MOST_PLACEHOLDERS ? undefined : this.#refuse(TOO_MANY_PLACEHOLDERS);
  }

  /** undefined: a value of this size is within the limit. Called before its parts are joined. */
  takeValue(bytes: number): string | undefined {
    if (bytes > MOST_RENDERED_BYTES) return this.#refuse(VALUE_TOO_LARGE);
    this.#bytes += bytes;
    return this.#bytes <= MOST_RENDERED_BYTES ? undefined : this.#refuse(SERVICE_TOO_LARGE);
  }

  #refuse(message: string): string {
    this.#exceeded = true;
    return message;
  }
}

const VALUE_TOO_LARGE = `has more than ${MOST_RENDERED_BYTES} bytes when its templates are filled in; make the texts that it reads shorter`;
const SERVICE_TOO_LARGE = `the rendered templates of the service up to this one have more than ${MOST_RENDERED_BYTES} bytes together; make them shorter`;
const TOO_MANY_PLACEHOLDERS = `the templates of the service up to this one have more than ${MOST_PLACEHOLDERS} placeholders together; use fewer`;
/** For a template that is not rendered because another one exceeded the budget. */
export const NOT_RENDERED = "is not filled in: the templates of the service are too large";

/** Bytes in UTF-8. Above `most` the exact number does not matter, and is not computed. */
export function byteLength(text: string, most = Infinity): number {
  if (text.length > most) return text.length;
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // both halves of a surrogate pair together are four bytes
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

export function sizeOfValue(value: Value, most: number): number {
  if (value.kind === "plain") return byteLength(value.text, most);
  if (value.kind === "sensitive") return byteLength(reveal(value.text), most);
  let bytes = 0;
  for (const part of value.parts) bytes += typeof part === "string" ? byteLength(part, most) : REFERENCE_BYTES + part.key.length;
  return bytes;
}
