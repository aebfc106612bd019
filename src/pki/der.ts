/**
 * DER encoder for the ASN.1 types that certificates use. Every function returns one complete element.
 *
 * Lengths are minimal and booleans are 0xff: DER has one encoding for each value, and verifiers reject the others.
 */
const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

export function element(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.byteLength), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const digits = bytesOf(BigInt(length));
  return Buffer.from([0x80 | digits.length, ...digits]);
}

function bytesOf(value: bigint): Buffer {
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
}

export function sequence(...items: readonly Uint8Array[]): Buffer {
  return element(TAGS.sequence, Buffer.concat(items));
}

/** DER sorts the members of a set; the sets here always have one. */
export function setOfOne(item: Uint8Array): Buffer {
  return element(TAGS.set, item);
}

export function boolean(value: boolean): Buffer {
  return element(TAGS.boolean, Buffer.from([value ? 0xff : 0x00]));
}

/** Not negative; a first byte of 0x80 or more gets a leading zero, otherwise it would be decoded as negative. */
export function integer(value: bigint): Buffer {
  const digits = bytesOf(value);
  const negativeLooking = (digits[0] ?? 0) >= 0x80;
  return element(TAGS.integer, negativeLooking ? Buffer.concat([Buffer.from([0]), digits]) : digits);
}

/** "1.2.840.10045.2.1". The first two numbers share a byte, the others are encoded in groups of seven bits. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return element(TAGS.oid, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(value: number): number[] {
  const groups = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) groups.unshift((rest & 0x7f) | 0x80);
  return groups;
}

export function octetString(content: Uint8Array): Buffer {
  return element(TAGS.octetString, content);
}

export function bitString(content: Uint8Array, unusedBits = 0): Buffer {
  return element(TAGS.bitString, Buffer.concat([Buffer.from([unusedBits]), content]));
}

/** Named bits as X.509 numbers them: bit 0 is the highest. Trailing zeros are omitted, as DER requires. */
export function namedBits(bits: readonly number[]): Buffer {
  const highest = Math.max(...bits);
  const content = Buffer.alloc(Math.floor(highest / 8) + 1);
  for (const bit of bits) content[bit >> 3] = (content[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return bitString(content, 7 - (highest & 7));
}

export function utf8String(text: string): Buffer {
  return element(TAGS.utf8String, Buffer.from(text, "utf8"));
}

/** Fractions of a second are dropped. RFC 5280: two-digit years to 2049, four digits from 2050. */
export function time(at: Date): Buffer {
  const digits = at.toISOString().replaceAll(/[-:T]|\.\d+/g, "");
  return at.getUTCFullYear() < 2050
    ? element(TAGS.utcTime, Buffer.from(digits.slice(2), "ascii"))
    : element(TAGS.generalizedTime, Buffer.from(digits, "ascii"));
}

/** `[n]` around a complete element. */
export function explicitTag(number: number, content: Uint8Array): Buffer {
  return element(0xa0 | number, content);
}

/** `[n]` in place of a primitive element's own tag. */
export function implicitTag(number: number, content: Uint8Array): Buffer {
  return element(0x80 | number, content);
}
