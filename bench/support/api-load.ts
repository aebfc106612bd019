/**
 * One client for every API server: HTTP/1.1 over TLS with keep-alive, as many connections as asked for, one request at a time on each.
 *
 * It is written on node:tls and reads no more of an answer than it must: node:https takes longer for a request than a fast server does, and
 * then it would be the client that is measured.
 */
import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";

export type Target = { readonly url: string; readonly caPem: string; readonly token: string };
export type Ask = { readonly method: string; readonly path: string; readonly body?: string; readonly type?: string };

type Answer = { readonly code: number; readonly body: string };

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

  /** At most as many at a time as there are connections. Anything but a success is a failure of the bench. */
  async ask({ method, path, body = "", type = "application/json" }: Ask): Promise<string> {
    const connection = this.#free.pop();
    if (connection === undefined) throw new Error("more requests than connections");
    const content = method === "GET" ? "" : `content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
    const head = `${method} ${path} HTTP/1.1\r\nhost: bench\r\naccept: application/json\r\nauthorization: Bearer ${this.#target.token}\r\n`;
    const answer = await connection.exchange(`${head}${content}\r\n${body}`);
    this.#free.push(connection);
    if (answer.code >= 300) throw new Error(`${method} ${path}: ${answer.code} ${answer.body.slice(0, 200)}`);
    return answer.body;
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}

class Connection {
  readonly #socket: TLSSocket;
  #received: Buffer = Buffer.alloc(0);
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

  exchange(text: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#socket.write(text);
    });
  }

  #receive(piece: Buffer): void {
    this.#received = this.#received.byteLength === 0 ? piece : Buffer.concat([this.#received, piece]);
    const answer = answerIn(this.#received);
    if (answer === undefined) return;
    this.#received = Buffer.alloc(0);
    this.#pending?.resolve(answer);
  }

  close(): void {
    this.#pending = undefined;
    this.#socket.destroy();
  }
}

/** Undefined while it is not all there. JSON has no bare line breaks of this kind in it, so the last chunk is known by its look. */
function answerIn(received: Buffer): Answer | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = received.toString("latin1", 0, end).toLowerCase();
  const code = Number(head.slice(9, 12));
  const length = /\ncontent-length: (\d+)/.exec(head)?.[1];
  const body = received.subarray(end + 4);
  if (length !== undefined) return body.byteLength < Number(length) ? undefined : { code, body: body.toString() };
  const last = received.subarray(-7).toString("latin1");
  return last === "\r\n0\r\n\r\n" || last.endsWith("\n0\r\n\r\n") ? { code, body: withoutChunks(body.toString()) } : undefined;
}

function withoutChunks(body: string): string {
  return body.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/gi, "").trimEnd();
}

/** Requests per second, with `connections` of them under way at any time. */
export async function throughput(
  target: Target,
  connections: number,
  askFor: (at: number) => Ask,
  total: number,
  from = 0,
): Promise<number> {
  const client = await LoadClient.open(target, connections);
  let next = from;
  const worker = async () => {
    while (next < from + total) await client.ask(askFor(next++));
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: connections }, worker));
  const seconds = (performance.now() - start) / 1_000;
  client.close();
  return total / seconds;
}
