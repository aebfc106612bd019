/**
 * One HTTP request to an API server and the raw response: contracts check status codes, headers and bytes, which a client library would
 * convert.
 */
import { Agent as PlainAgent, request as plainRequest, type IncomingMessage } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import { text } from "node:stream/consumers";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "HEAD";

export type Request = {
  readonly method: Method;
  /** With the query; starts with "/". */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | undefined;
};

export type Received = {
  readonly status: number;
  /** Names in lower case; repeated headers are separate values. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  readonly text: string;
};

export type Streamed = Omit<Received, "text"> & { readonly chunks: AsyncIterable<string>; readonly end: () => void };

/** A connection to a server. Without credentials: contracts set them as headers. */
export type Connection = {
  send(request: Request): Promise<Received>;
  stream(request: Request): Promise<Streamed>;
  close(): void;
};

const LIMIT_MS = 60_000;

export function connectTo(url: string, caPem?: string): Connection {
  const agent = url.startsWith("https:") ? new TlsAgent({ keepAlive: true, ca: caPem }) : new PlainAgent({ keepAlive: true });
  const start = url.startsWith("https:") ? tlsRequest : plainRequest;
  const open = ({ method, path, headers, body }: Request) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const signal = AbortSignal.timeout(LIMIT_MS);
      // set explicitly: Node omits it for DELETE, and the server would read the body as the next request
      const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const outgoing = start(url + path, { method, headers: { "user-agent": "contracts/1", ...length, ...headers }, agent, signal });
      outgoing.once("error", reject);
      outgoing.once("response", resolve);
      outgoing.end(body);
    });
  return {
    async send(request) {
      const incoming = await open(request);
      return { status: incoming.statusCode ?? 0, headers: incoming.headersDistinct, text: await text(incoming) };
    },
    async stream(request) {
      const incoming = await open(request);
      incoming.setEncoding("utf8");
      return { status: incoming.statusCode ?? 0, headers: incoming.headersDistinct, chunks: incoming, end: () => incoming.destroy() };
    },
    close: () => agent.destroy(),
  };
}
