/**
 * One client for every API server: HTTP/1.1 over TLS with keep-alive, with a given number of connections, one request at a time on each.
 *
 * The server must dominate the measured time. So requests are encoded before the measurement, the client uses node:tls directly (node:https
 * takes longer for a request than a fast server), and of a response it reads only the status and the end.
 */
import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";

export type Target = { readonly url: string; readonly caPem: string; readonly token: string };
export type Ask = { readonly method: string; readonly path: string; readonly body?: string; readonly type?: string };

export class LoadClient {
  readonly #target: Target;
  readonly #connections: readonly Connection[];
  readonly #free: Connection[];

  private constructor(target: Target, connections: readonly Connection[]) {
    this.#target = target;
    this.#connections = connections;
    this.#free = [...connections];
  }

  static async open(target: Target, connections: number): Promise<LoadClient> {
    return new LoadClient(target, await Promise.all(Array.from({ length: connections }, () => Connection.open(target))));
  }

  /** The body of the response. Any other status than success fails the bench. */
  async ask(ask: Ask): Promise<string> {
    return (await this.send(written(this.#target, ask))).toString();
  }

  /** At most as many at a time as there are connections. */
  async send(request: Buffer): Promise<Body> {
    const connection = this.#free.pop();
    if (connection === undefined) throw new Error("more requests than connections");
    const answer = await connection.exchange(request);
    this.#free.push(connection);
    if (answer.code < 300) return answer.body;
    const asked = request.toString("latin1", 0, request.indexOf("\r\n"));
    throw new Error(`${asked}: ${answer.code} ${answer.body.toString().slice(0, 200)}`);
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}

function written({ token }: Target, { method, path, body = "", type = "application/json" }: Ask): Buffer {
  const content = method === "GET" ? "" : `content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\nhost: bench\r\naccept: application/json\r\nauthorization: Bearer ${token}\r\n`;
  return Buffer.from(`${head}${content}\r\n${body}`);
}

/** The body of a response so far. It is decoded only on demand. */
class Body {
  readonly #pieces: readonly Buffer[];
  readonly #chunked: boolean;

  constructor(pieces: readonly Buffer[], chunked: boolean) {
    this.#pieces = pieces;
    this.#chunked = chunked;
  }

  toString(): string {
    const text = Buffer.concat(this.#pieces).toString();
    return this.#chunked ? text.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/gi, "").trimEnd() : text;
  }
}

type Answer = { readonly code: number; readonly body: Body };
type Head = { readonly code: number; /** Undefined: in chunks. */ readonly length: number | undefined };

class Connection {
  readonly #socket: TLSSocket;
  #head: Head | undefined;
  #pieces: Buffer[] = [];
  #received = 0;
  #pending: { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void } | undefined;

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (piece: Buffer) => this.#receive(piece));
    socket.on("error", (error) => this.#pending?.reject(error));
    socket.on("close", () => this.#pending?.reject(new Error("the server closed the connection")));
  }

  static async open({ url, caPem }: Target): Promise<Connection> {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port), ca: caPem, ALPNProtocols: ["http/1.1"] });
    await once(socket, "secureConnect");
    return new Connection(socket);
  }

  exchange(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#socket.write(request);
    });
  }

  #receive(piece: Buffer): void {
    if (this.#head === undefined) this.#receiveHead(piece);
    else this.#keep(piece);
    if (this.#head === undefined || !this.#isWhole(this.#head)) return;
    const answer = { code: this.#head.code, body: new Body(this.#pieces, this.#head.length === undefined) };
    [this.#head, this.#pieces, this.#received] = [undefined, [], 0];
    this.#pending?.resolve(answer);
  }

  #receiveHead(piece: Buffer): void {
    const all = this.#pieces.length === 0 ? piece : Buffer.concat([...this.#pieces, piece]);
    const end = all.indexOf("\r\n\r\n");
    [this.#pieces, this.#received] = [[], 0];
    if (end < 0) return this.#keep(all);
    const head = all.toString("latin1", 0, end);
    const length = /\ncontent-length: (\d+)/i.exec(head)?.[1];
    this.#head = { code: Number(head.slice(9, 12)), length: length === undefined ? undefined : Number(length) };
    this.#keep(all.subarray(end + 4));
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#received += piece.byteLength;
  }

  /** JSON contains no such line breaks, so the last chunk can be recognized by its text. */
  #isWhole({ length }: Head): boolean {
    if (length !== undefined) return this.#received >= length;
    const last = this.#pieces.at(-1) ?? Buffer.alloc(0);
    const tail = last.byteLength >= 6 ? last : Buffer.concat(this.#pieces);
    return tail.subarray(-6).toString("latin1") === "\n0\r\n\r\n";
  }

  close(): void {
    this.#pending = undefined;
    this.#socket.destroy();
  }
}

/** Requests per second, with `connections` concurrent requests. */
export async function throughput(target: Target, connections: number, askFor: (at: number) => Ask, total: number): Promise<number> {
  const requests = Array.from({ length: total }, (_, at) => written(target, askFor(at)));
  const client = await LoadClient.open(target, connections);
  let next = 0;
  const worker = async () => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) await client.send(request);
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: connections }, worker));
  const seconds = (performance.now() - start) / 1_000;
  client.close();
  return total / seconds;
}
