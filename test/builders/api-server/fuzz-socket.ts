/**
 * One HTTP/1.1 connection of the fuzzer. It writes bytes that Node's own client would refuse to send.
 *
 * A stream is closed after a few milliseconds. Closing the connection without a response is a valid response to bytes that are not HTTP.
 */
import { connect, type Socket } from "node:net";
import type { FuzzRequest } from "./fuzz-requests.ts";

export type WireResponse = {
  /** Undefined: the server closed the connection without a response. */
  readonly status: number | undefined;
  readonly type: string;
  readonly text: string;
  readonly end: "whole" | "left" | "hung up";
};

const STREAM_MS = 3;

type Head = { readonly status: number; readonly type: string; readonly length: number | "chunks" | "none"; readonly end: number };

/** One character per byte. Line breaks in header values are replaced; the server must reject everything else that is invalid. */
export function wireText({ method, url, headers, body, binary }: FuzzRequest, token: string | undefined): Buffer {
  const bytes = body === undefined ? undefined : Buffer.from(body, binary === true ? "latin1" : "utf8");
  const known = token === undefined || headers["authorization"] !== undefined ? [] : [`authorization: Bearer ${token}`];
  const lines = [`${method} ${url} HTTP/1.1`, "host: fuzz", ...known];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value.replaceAll(/[\r\n]/g, " ")}`);
  if (bytes !== undefined) lines.push(`content-length: ${bytes.byteLength}`);
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), bytes ?? Buffer.alloc(0)]);
}

export class FuzzSocket {
  readonly #port: number;
  #socket: Socket | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** `alone`: no other request follows on this connection, so it is half-closed after these bytes. */
  send(bytes: Buffer, { method, alone = false }: { readonly method: string; readonly alone?: boolean }): Promise<WireResponse> {
    const socket = alone ? this.#open() : this.#reuse();
    return new Promise((resolve) => {
      const reading = new Reading(method === "HEAD");
      let leaving: NodeJS.Timeout | undefined;
      const finish = (end: WireResponse["end"], keep: boolean) => {
        clearTimeout(leaving);
        socket.removeAllListeners("data").removeAllListeners("close");
        if (!keep || alone) this.#drop(socket);
        resolve(reading.answer(end));
      };
      socket.on("data", (chunk: Buffer) => {
        reading.take(chunk);
        if (reading.isWhole) return finish("whole", reading.keepsAlive);
        if (reading.isStream) leaving ??= setTimeout(() => finish("left", false), STREAM_MS);
      });
      socket.on("close", () => finish("hung up", false));
      if (alone) socket.end(bytes);
      else socket.write(bytes);
    });
  }

  close(): void {
    if (this.#socket !== undefined) this.#drop(this.#socket);
  }

  #reuse(): Socket {
    if (this.#socket === undefined || this.#socket.destroyed) this.#socket = this.#open();
    return this.#socket;
  }

  #open(): Socket {
    return connect({ port: this.#port, host: "127.0.0.1", noDelay: true }).on("error", () => {}); // a reset is followed by "close"
  }

  #drop(socket: Socket): void {
    socket.destroy();
    if (socket === this.#socket) this.#socket = undefined;
  }
}

class Reading {
  readonly #headOnly: boolean;
  #bytes: Buffer = Buffer.alloc(0);
  #head: Head | undefined;

  constructor(headOnly: boolean) {
    this.#headOnly = headOnly;
  }

  take(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    while (this.#head === undefined) {
      const head = readHead(this.#bytes, this.#headOnly);
      if (head === undefined) return;
      if (head.status < 200) this.#bytes = this.#bytes.subarray(head.end);
      else this.#head = head;
    }
  }

  get isStream(): boolean {
    return this.#head?.length === "chunks";
  }

  get isWhole(): boolean {
    if (this.#head === undefined) return false;
    const { length, end } = this.#head;
    if (length === "chunks") return this.#bytes.subarray(-7).toString("latin1").endsWith("0\r\n\r\n");
    return length === "none" || this.#bytes.byteLength >= end + length;
  }

  get keepsAlive(): boolean {
    return this.#head !== undefined && !/^connection: close/im.test(this.#bytes.toString("latin1", 0, this.#head.end));
  }

  answer(end: WireResponse["end"]): WireResponse {
    if (this.#head === undefined) return { status: undefined, type: "", text: this.#bytes.toString("latin1"), end };
    const body = this.#bytes.toString("utf8", this.#head.end);
    return { status: this.#head.status, type: this.#head.type, text: this.isStream ? withoutSizes(body) : body, end };
  }
}

function readHead(bytes: Buffer, headOnly: boolean): Head | undefined {
  const at = bytes.indexOf("\r\n\r\n");
  if (at < 0) return undefined;
  const text = bytes.toString("latin1", 0, at);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? Number.NaN);
  const length = /^content-length: *(\d+)/im.exec(text)?.[1];
  const empty = headOnly || status === 204 || status === 304 || status < 200;
  const chunked = /^transfer-encoding: *chunked/im.test(text);
  return {
    status,
    type: /^content-type: *(.*)$/im.exec(text)?.[1]?.trim() ?? "",
    length: empty ? "none" : chunked ? "chunks" : Number(length ?? 0),
    end: at + 4,
  };
}

function withoutSizes(text: string): string {
  return text.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, "");
}
