/** Malformed bytes for a socket: truncated or doubled requests, contradictory headers, or no HTTP at all. */
import { chance, pick, type Random } from "./fuzz-values.ts";

type Corruption = (random: Random, request: string) => string;

const SPOILS: readonly [Corruption, ...Corruption[]] = [
  (random, request) => request.slice(0, Math.floor(random() * request.length)),
  (_random, request) => request.replace("\r\n", "\r\ntransfer-encoding: chunked\r\n"),
  (_random, request) => request.replace("\r\n", "\r\ntransfer-encoding: chunked, identity\r\ncontent-length: 4\r\n"),
  (_random, request) => request.replace("\r\n", "\r\ncontent-length: 99999999999999999999\r\n"),
  (_random, request) => request.replace("\r\n", `\r\n${"x: y\r\n".repeat(3_000)}`),
  (_random, request) => request.replace(" HTTP/1.1", ` HTTP/${"9".repeat(50)}`),
  (_random, request) => request.replace(/ \S* /, ` /${"%".repeat(5_000)} `),
  (_random, request) => request.replaceAll("\r\n", "\n"),
  (_random, request) => request.replace("\r\n", "\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n"),
  (_random, request) => request + request,
  (_random, request) => request.repeat(100),
  (_random, request) => request.replace("\r\n", "\r\ntransfer-encoding : chunked\r\n"),
  (_random, request) => request.replace("\r\n", "\r\nx: a\r\n folded\r\n"),
  (_random, request) => request.replace("\r\n", "\r\nx: a\u0000b\r\n"),
  (_random, request) => request.replace("\r\n", "\r\ncontent-length: -1\r\n"),
  (_random, request) => request.replace("\r\n", "\r\nexpect: 100-continue\r\nexpect: x\r\n"),
  (_random, request) => request.replace(/ \S* /, " http://[::1/api/v1 "),
  (_random, request) => request.replace("host: fuzz\r\n", ""),
  (_random, request) => request.replaceAll("\r\n", "\r"),
  (_random, request) =>
    `${request.replace("\r\n", "\r\ntransfer-encoding: chunked\r\nx-trailer: a\r\n")}2;${"e=1;".repeat(5_000)}\r\n{}\r\n0\r\nx: y\r\n__proto__: z\r\n\r\n`,
  () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u0000\u0000\u0000\u0004\u0000\u0000\u0000\u0000\u0000",
  () => "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
  (random) => Array.from({ length: 300 }, () => String.fromCharCode(Math.floor(random() * 256))).join(""),
];

export function noise(random: Random, request: Buffer): Buffer {
  const spoiled = pick(random, SPOILS)(random, request.toString("latin1"));
  const again = chance(random, 0.2) ? pick(random, SPOILS)(random, spoiled) : spoiled;
  return Buffer.from(again, "latin1");
}
