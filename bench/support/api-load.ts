/**
 * One client for every API server: plain HTTPS/1.1 with keep-alive (node:https), as many connections as asked for, one request at a time on
 * each. It does as little as possible, so that the server is what is measured.
 */
import { Agent, request } from "node:https";

export type Target = { readonly url: string; readonly caPem: string; readonly token: string };
export type Ask = { readonly method: string; readonly path: string; readonly body?: string; readonly type?: string };

export class LoadClient {
  readonly #target: Target;
  readonly #agent: Agent;

  constructor(target: Target, connections: number) {
    this.#target = target;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, ca: target.caPem, ALPNProtocols: ["http/1.1"] });
  }

  /** The body, once it is all there. Anything but a success is a failure of the bench. */
  ask({ method, path, body, type = "application/json" }: Ask): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers: Record<string, string> = { authorization: `Bearer ${this.#target.token}`, accept: "application/json" };
      if (body !== undefined) {
        headers["content-type"] = type;
        headers["content-length"] = String(Buffer.byteLength(body));
      }
      const sent = request(`${this.#target.url}${path}`, { method, headers, agent: this.#agent }, (answer) => {
        const pieces: Buffer[] = [];
        answer.on("data", (piece: Buffer) => pieces.push(piece));
        answer.on("error", reject);
        answer.on("end", () => {
          const text = Buffer.concat(pieces).toString();
          if ((answer.statusCode ?? 0) < 300) resolve(text);
          else reject(new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 200)}`));
        });
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Requests per second, with `connections` of them under way at any time. */
export async function throughput(target: Target, connections: number, askFor: (at: number) => Ask, total: number, from = 0): Promise<number> {
  const client = new LoadClient(target, connections);
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
