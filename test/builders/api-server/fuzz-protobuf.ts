/** Bodies in Kubernetes' protobuf encoding: a valid envelope around random fields, nested at random, intact or damaged. */
import { fieldAt, type JsonObject } from "#kube";
import { chance, NASTY_NAMES, pick, type Random } from "./fuzz-values.ts";

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = BigInt.asUintN(64, value); ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}

const tag = (number: number, wireType: number): Buffer => varint(BigInt(number) * 8n + BigInt(wireType));
const delimited = (number: number, bytes: Buffer): Buffer => Buffer.concat([tag(number, 2), varint(BigInt(bytes.length)), bytes]);
const text = (number: number, value: string): Buffer => delimited(number, Buffer.from(value));

function field(random: Random, depth: number): Buffer {
  const number = 1 + Math.floor(random() * random() * 30);
  if (depth > 0 && chance(random, 0.45)) return delimited(number, message(random, depth - 1));
  if (chance(random, 0.4)) return text(number, chance(random, 0.3) ? pick(random, NASTY_NAMES) : pick(random, ["a", "b", "1", "10Mi", "v1", "{}"]));
  if (chance(random, 0.6)) return Buffer.concat([tag(number, 0), varint(pick(random, [0n, 1n, 80n, -1n, 2n ** 31n, 2n ** 63n, 2n ** 64n - 1n]))]);
  return Buffer.concat([tag(number, pick(random, [1, 3, 4, 5, 6, 7])), Buffer.alloc(8, 0xff)]);
} // prettier-ignore

function message(random: Random, depth: number): Buffer {
  return Buffer.concat(Array.from({ length: Math.floor(random() * 5) }, () => field(random, depth)));
}

/** Nested messages, each the first field of the one around it. */
function tower(height: number): Buffer {
  let bytes: Buffer = Buffer.alloc(0);
  for (let at = 0; at < height; at += 1) bytes = delimited(1, bytes);
  return bytes;
}

export function protobufBody(random: Random, object: JsonObject): Buffer {
  const textAt = (...path: readonly string[]): string => {
    const value = fieldAt(object, ...path);
    return typeof value === "string" ? value : "";
  };
  const meta = delimited(1, Buffer.concat([text(1, textAt("metadata", "name")), message(random, 1)]));
  const raw = chance(random, 0.03) ? tower(3_000) : Buffer.concat([meta, message(random, 5)]);
  const type = Buffer.concat([text(1, textAt("apiVersion")), text(2, chance(random, 0.05) ? "__proto__" : textAt("kind"))]);
  const whole = Buffer.concat([Buffer.from("k8s\u0000"), delimited(1, type), delimited(2, raw)]);
  return chance(random, 0.2) ? damaged(random, whole) : whole;
}

/** A copy that is truncated or has some bytes replaced. */
export function damaged(random: Random, bytes: Buffer): Buffer {
  if (chance(random, 0.3)) return bytes.subarray(0, Math.floor(random() * bytes.length));
  const copy = Buffer.from(bytes);
  for (let times = 1 + Math.floor(random() * 4); times > 0 && copy.length > 0; times -= 1)
    copy[Math.floor(random() * copy.length)] = pick(random, [0, 0x7f, 0x80, 0xc0, 0xed, 0xf8, 0xfe, 0xff, Math.floor(random() * 256)]);
  return copy;
}
