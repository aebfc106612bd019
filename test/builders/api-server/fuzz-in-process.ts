/** One request to a server in this process, and the response as text, in the same form as over a socket. */
import type { Json } from "#kube";
import type { ApiServer, User } from "#kube-server";
import type { FuzzRequest } from "./fuzz-requests.ts";

export type FuzzResponse = {
  /** Undefined: the server closed the connection without a response. */
  readonly status: number | undefined;
  readonly type: string;
  readonly text: string;
};

export const MASTER: User = { name: "admin", uid: "", groups: ["system:masters"] };

/** Reads a stream for one turn of the event loop, then disconnects. */
export async function sendFuzzed(server: ApiServer, request: FuzzRequest, user: User = MASTER): Promise<FuzzResponse> {
  const gone = new AbortController();
  const { method, url, headers } = request;
  const mark = url.indexOf("?");
  const query = new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1));
  const path = mark < 0 ? url : url.slice(0, mark);
  const response = await server.handle({ method, path, query, headers, body: bodyOf(request), user }, gone.signal);
  const { status, body } = response;
  const type = response.headers["content-type"] ?? "";
  if (body.kind === "stream") return { status, type, text: await readThenDisconnect(body.chunks, gone) };
  return { status, type, text: body.kind === "json" ? JSON.stringify(body.value) : body.kind === "text" ? body.text : "" };
}

/** Callers in this process may pass text, bytes or a JSON value; the length of the body decides which, so that a replay does the same. */
function bodyOf({ body, binary }: FuzzRequest): string | Uint8Array | { readonly value: Json } | undefined {
  if (body === undefined) return undefined;
  if (binary === true) return Buffer.from(body, "latin1");
  if (body.length % 3 === 0) return Buffer.from(body, "utf8");
  // a value can hold half of a surrogate pair; bytes decoded as UTF-8 cannot
  if (body.length % 3 === 1 || /\\ud[89a-f]/i.test(body)) return body;
  try {
    return { value: JSON.parse(body) as Json };
  } catch {
    return body; // deliberately not JSON
  }
}

async function readThenDisconnect(chunks: AsyncIterable<string>, gone: AbortController): Promise<string> {
  setImmediate(() => gone.abort());
  let text = "";
  for await (const chunk of chunks) {
    for (const line of chunk.trimEnd().split("\n")) JSON.parse(line); // an event is never cut in two
    text += chunk;
  }
  return text;
}
