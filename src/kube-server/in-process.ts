/**
 * The server for callers in this process: the same client, no socket, and no JSON text either. Only watches are streams of text.
 *
 * Values are copied on their way in and out. Objects in the store are shared by all who read them, and a test may well change what it got.
 */
import { err, ok, type Clock, type Logger, type Result } from "#base";
import {
  createKubeClient,
  errorOfAnswer,
  inProcessTransport,
  type DirectServer,
  type InProcessHandler,
  type KubeClient,
  type KubeError,
  type TransportAnswer,
} from "#kube-client";
import { copyJson } from "./copy-json.ts";
import type { ApiServer } from "./rest/api-server.ts";
import type { ApiBody, ApiRequest, User } from "./rest/request.ts";

export type InProcessOptions = { readonly user?: User; readonly clock: Clock; readonly random: () => number; readonly logger: Logger };

const ADMIN: User = { name: "admin", uid: "admin", groups: ["system:masters", "system:authenticated"] };

export function inProcessClient(server: ApiServer, { user = ADMIN, clock, random, logger }: InProcessOptions): KubeClient {
  const transport = inProcessTransport(handlerOf(server, user));
  return createKubeClient({ transport, direct: directlyTo(server, user, logger), clock, random, logger });
}

/** No call of this kind outlives its own turn, so nothing can end it early. */
const NEVER = new AbortController().signal;

function directlyTo(server: ApiServer, user: User, logger: Logger): DirectServer {
  return async ({ method, path, headers, content }) => {
    const body = content === undefined ? undefined : { value: copyJson(content) };
    const { status, body: answer, warnings, headers: given } = await server.handle(requestOf({ method, path, headers, body, user }), NEVER);
    for (const warning of warnings) logger.warn("the API server warns", { warning });
    const value = answer.kind === "json" ? copyJson(answer.value) : null;
    return status < 300 ? ok(value) : err(errorOfAnswer(status, value, given["retry-after"]));
  };
}

const NO_QUERY = new URLSearchParams();

function requestOf({ path, ...rest }: Omit<ApiRequest, "query">): ApiRequest {
  const mark = path.indexOf("?");
  if (mark < 0) return { ...rest, path, query: NO_QUERY };
  return { ...rest, path: path.slice(0, mark), query: new URLSearchParams(path.slice(mark + 1)) };
}

function handlerOf(server: ApiServer, user: User): InProcessHandler {
  return async ({ method, path, headers, body }, signal): Promise<TransportAnswer> => {
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const answered = await server.handle(requestOf({ method, path, headers: lower, body, user }), signal);
    return { code: answered.status, headers: answered.headers, body: bytesOf(answered.body) };
  };
}

const encoder = new TextEncoder();

async function* bytesOf(body: ApiBody): AsyncGenerator<Result<Uint8Array, KubeError>, void> {
  if (body.kind === "json") yield ok(encoder.encode(JSON.stringify(body.value)));
  else if (body.kind === "text") yield ok(encoder.encode(body.text));
  else if (body.kind === "stream") for await (const chunk of body.chunks) yield ok(encoder.encode(chunk));
}
