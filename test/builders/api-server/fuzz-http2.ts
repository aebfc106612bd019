/**
 * HTTP/2 transport of the fuzzer: one session for correctly framed requests, and bare TLS sockets for malformed frames.
 *
 * A request that Node's client refuses to frame is returned to the caller, which sends it over another transport.
 */
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { connect as connectTls } from "node:tls";
import type { FuzzResponse } from "./fuzz-in-process.ts";
import type { FuzzRequest } from "./fuzz-requests.ts";
import { chance, pick, type Random } from "./fuzz-values.ts";

const STREAM_MS = 3;
/** Headers of an HTTP/1.1 connection, which HTTP/2 does not have. */
const CONNECTION_HEADERS = new Set(["connection", "upgrade", "expect", "host", "transfer-encoding", "__proto__"]);

/** Node's HTTP/2 server resets a stream with an invalid path before any handler is called. */
const VALID_PATH = /^\/[\x21-\x7e]*$/;

export class FuzzHttp2 {
  readonly #url: string;
  #session: ClientHttp2Session | undefined;

  constructor(port: number) {
    this.#url = `https://127.0.0.1:${port}`;
  }

  /** Undefined: the request cannot be expressed in HTTP/2. */
  async send(request: FuzzRequest, token: string | undefined): Promise<FuzzResponse | undefined> {
    const { body, binary } = request;
    if (!VALID_PATH.test(request.url)) return undefined;
    const stream = this.#open(headersOf(request, token));
    if (stream === undefined) return undefined;
    stream.on("error", () => {}); // "close" follows
    stream.end(body === undefined ? undefined : Buffer.from(body, binary === true ? "latin1" : "utf8"));
    return responseOn(stream);
  }

  close(): void {
    this.#session?.destroy();
  }

  #open(headers: Readonly<Record<string, string>>): ClientHttp2Stream | undefined {
    if (this.#session === undefined || this.#session.destroyed || this.#session.closed)
      this.#session = connectHttp2(this.#url, { rejectUnauthorized: false }).on("error", () => {});
    try {
      return this.#session.request(headers, { endStream: false });
    } catch {
      return undefined; // a name or value that Node's encoder rejects
    }
  }
}

function headersOf({ method, url, headers }: FuzzRequest, token: string | undefined): Readonly<Record<string, string>> {
  const sendable = Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.has(name));
  const known = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return { ...known, ...Object.fromEntries(sendable), ":method": method, ":path": url };
}

function responseOn(stream: ClientHttp2Stream): Promise<FuzzResponse> {
  return new Promise((resolve) => {
    let status: number | undefined;
    let type = "";
    const chunks: Buffer[] = [];
    let leaving: NodeJS.Timeout | undefined;
    stream.on("response", (head) => {
      status = Number(head[":status"]);
      type = head["content-type"] ?? "";
      // a watch has no content-length and does not end by itself
      if (head["content-length"] === undefined) leaving = setTimeout(() => stream.close(), STREAM_MS);
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.once("close", () => {
      clearTimeout(leaving);
      resolve({ status, type, text: Buffer.concat(chunks).toString("utf8") });
    });
  });
}

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
const NO_BYTES = Buffer.alloc(0);

type FrameParts = {
  readonly type: number;
  readonly flags?: number;
  readonly stream?: number;
  readonly payload?: Buffer;
  readonly length?: number;
};

function frame({ type, flags = 0, stream = 0, payload = NO_BYTES, length = payload.length }: FrameParts): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length % 2 ** 24, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream % 2 ** 32, 5);
  return Buffer.concat([head, payload]);
}

/** A literal header field without indexing. */
function literal(name: string, value: string): Buffer {
  const text = (one: string) => Buffer.concat([Buffer.from([one.length % 127]), Buffer.from(one.slice(0, one.length % 127), "latin1")]);
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

const GET = Buffer.concat([Buffer.from([0x82, 0x87]), literal(":path", "/api/v1/configmaps?watch=1"), literal(":authority", "x"), literal("authorization", "Bearer admin-token")]); // prettier-ignore
const [DATA, HEADERS, PRIORITY, RESET, SETTINGS, PROMISE, PING, GOAWAY, WINDOW, CONTINUATION] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] as const;

const times = (count: number, make: (at: number) => Buffer): Buffer => Buffer.concat(Array.from({ length: count }, (_, at) => make(at)));
const anyBytes = (random: Random, most: number): Buffer =>
  Buffer.from(Array.from({ length: Math.floor(random() * most) }, () => Math.floor(random() * 256)));
const odd = (at: number): number => 2 * at + 1;

type Frames = (random: Random) => Buffer;

const ATTACKS: readonly [Frames, ...Frames[]] = [
  // rapid reset: requests that are cancelled at once
  () => times(200, (at) => Buffer.concat([frame({ type: HEADERS, flags: 5, stream: odd(at), payload: GET }), frame({ type: RESET, stream: odd(at), payload: Buffer.from([0, 0, 0, 8]) })])),
  () => Buffer.concat([frame({ type: HEADERS, stream: 1, payload: GET }), times(400, () => frame({ type: CONTINUATION, stream: 1, payload: literal("x", "y".repeat(120)) }))]),
  () => times(1_000, () => frame({ type: SETTINGS, payload: Buffer.from([0, 4, 0, 0, 0, 0]) })),
  () => times(1_000, () => frame({ type: PING, payload: Buffer.alloc(8) })),
  () => times(500, () => frame({ type: DATA, stream: 1 })),
  () => times(100, (at) => frame({ type: PRIORITY, stream: odd(at), payload: Buffer.from([0, 0, 0, odd(at) % 256, 255]) })),
  () => frame({ type: SETTINGS, payload: Buffer.from([0, 5, 255, 255, 255, 255, 0, 1, 255, 255, 255, 255]) }),
  () => frame({ type: WINDOW, payload: Buffer.from([0, 0, 0, 0]) }),
  () => times(3, () => frame({ type: WINDOW, payload: Buffer.from([0x7f, 255, 255, 255]) })),
  () => frame({ type: PROMISE, stream: 2, payload: GET }),
  () => frame({ type: HEADERS, flags: 5, stream: 2, payload: GET }),
  () => frame({ type: HEADERS, flags: 13, stream: 1, payload: Buffer.concat([Buffer.from([255]), GET]) }),
  () => frame({ type: HEADERS, flags: 4, stream: 1, payload: GET, length: 2 ** 24 - 1 }),
  // an index that the header table does not have, and repeated resizes of the table
  () => frame({ type: HEADERS, flags: 5, stream: 1, payload: Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]), GET]) }),
  () => frame({ type: HEADERS, flags: 5, stream: 1, payload: Buffer.alloc(4_000, 0x3f) }),
  () => Buffer.concat([frame({ type: GOAWAY, payload: Buffer.alloc(8) }), frame({ type: HEADERS, flags: 5, stream: 1, payload: GET })]),
  (random) => times(20, () => frame({ type: Math.floor(random() * 16), flags: Math.floor(random() * 256), stream: Math.floor(random() * 6), payload: anyBytes(random, 60) })),
  (random) => Buffer.concat([frame({ type: HEADERS, flags: 5, stream: 1, payload: Buffer.concat([GET, anyBytes(random, 40)]) }), anyBytes(random, 200)]),
  (random) => anyBytes(random, 400),
]; // prettier-ignore

/** Any response is acceptable, also none; later requests show that the server still works. Resolves when the connection is closed. */
export function sendFrames(port: number, random: Random): Promise<void> {
  const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["h2"] });
  socket.on("error", () => {}).resume();
  const greeting = chance(random, 0.9) ? [PREFACE, frame({ type: SETTINGS })] : [];
  const attacks = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(random, ATTACKS)(random));
  socket.end(Buffer.concat([...greeting, ...attacks]));
  return new Promise((resolve) => socket.once("close", () => resolve()));
}
