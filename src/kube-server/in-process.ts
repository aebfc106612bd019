/**
 * A client of a server in the same process, without a socket and without JSON text. Only watches are streams of text.
 *
 * Values are copied in both directions: stored objects are shared by all readers, and a caller may change an object that it received.
 */
import { err, ok, whenThere, type Clock, type Err, type Logger, type Result } from "#base";
import type { Json } from "#kube";
import {
  createKubeClient,
  DEFAULT_TIMEOUT_MS,
  errorOfResponse,
  failure,
  inProcessTransport,
  openScope,
  type DirectServer,
  type InProcessHandler,
  type KubeClient,
  type KubeError,
  type Transport,
  type TransportResponse,
  unlessAborted,
  warnOnce,
} from "#kube-client";
import { copyJson } from "./copy-json.ts";
import type { ApiServer } from "./rest/api-server.ts";
import { NO_QUERY, readQuery, type ApiBody, type ApiRequest, type ApiResponse, type User } from "./protocol/request.ts";
import { Turns } from "./turns.ts";

export type InProcessOptions = {
  readonly user?: User;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** The default field manager of writes; "unknown" if absent. */
  readonly userAgent?: string;
  /** Whether a call may have to wait. Only then signals and timeouts are observed, which cost more than most calls. */
  readonly mayWait?: () => boolean;
};

const ADMIN: User = { name: "admin", uid: "admin", groups: ["system:masters", "system:authenticated"] };

export function inProcessClient(server: ApiServer, { user = ADMIN, mayWait, userAgent, ...options }: InProcessOptions): KubeClient {
  const transport = serverTransport(server, user);
  const synchronous = directServer(server, user, { logger: options.logger, userAgent });
  const cancellable = withTimeout(synchronous, options.clock);
  const direct: DirectServer = (request, call) => (mayWait?.() === true ? cancellable(request, call) : synchronous(request, call));
  return createKubeClient({ transport, direct, ...options });
}

/** A transport of texts without a socket: its client retries and decodes as over HTTP. */
export function serverTransport(server: ApiServer, user: User): Transport {
  return inProcessTransport(handlerOf(server, user));
}

/** A synchronous call cannot be cancelled. */
const NEVER = new AbortController().signal;

type Direct = { readonly logger: Logger; readonly userAgent: string | undefined };

function directServer(server: ApiServer, user: User, { logger, userAgent }: Direct): DirectServer {
  const turns = new Turns();
  const warn = warnOnce(logger);
  const ask: DirectServer = ({ method, path, headers: asked, content }, { signal = NEVER }) => {
    const headers = userAgent === undefined ? asked : { ...asked, "user-agent": userAgent };
    const body = content === undefined ? undefined : { value: copyJson(content) };
    return whenThere(server.handle(requestOf({ method, path, headers, body, user }), signal), given);
  };
  const given = ({ status, body, warnings, headers }: ApiResponse): Result<Json, KubeError> => {
    for (const warning of warnings) warn(warning);
    if (body.kind === "cut") return connectionLost();
    const value = body.kind === "json" ? copyJson(body.value) : null;
    return status < 300 ? ok(value) : err(errorOfResponse(status, value, headers["retry-after"]));
  };
  return (request, call) => {
    const turn = turns.next();
    return turn === undefined ? ask(request, call) : turn.then(() => ask(request, call));
  };
}

/** As over a socket: the caller's signal and timeout end the wait, independently of the server. */
function withTimeout(direct: DirectServer, clock: Clock): DirectServer {
  return async (request, call) => {
    const scope = openScope(clock, call.timeoutMs ?? DEFAULT_TIMEOUT_MS, [call.signal]);
    const answer = await unlessAborted(Promise.resolve(direct(request, { ...call, signal: scope.signal })), scope.signal);
    const ended = scope.ending();
    scope.release();
    return ended ?? answer ?? failure("cancelled", "the call was cancelled");
  };
}

function connectionLost(): Err<KubeError> {
  return failure("network", "the connection was lost before an answer came");
}

function requestOf({ method, path: url, headers, body, user }: Omit<ApiRequest, "query">): ApiRequest {
  const mark = url.indexOf("?");
  const [path, query] = mark < 0 ? [url, NO_QUERY] : [url.slice(0, mark), readQuery(url.slice(mark + 1))];
  return { method, path, query, headers, body, user };
}

function handlerOf(server: ApiServer, user: User): InProcessHandler {
  return async ({ method, path, headers, body }, signal): Promise<TransportResponse> => {
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const answered = await server.handle(requestOf({ method, path, headers: lower, body, user }), signal);
    return { code: answered.status, headers: answered.headers, body: bytesOf(answered.body) };
  };
}

const encoder = new TextEncoder();

async function* bytesOf(body: ApiBody): AsyncGenerator<Result<Uint8Array, KubeError>, void> {
  if (body.kind === "json") yield ok(encoder.encode(JSON.stringify(body.value)));
  else if (body.kind === "text") yield ok(encoder.encode(body.text));
  else if (body.kind === "bytes") yield ok(body.bytes);
  else if (body.kind === "cut") yield connectionLost();
  else if (body.kind === "byte-stream") for await (const chunk of body.chunks) yield ok(chunk);
  else if (body.kind === "stream") for await (const chunk of body.chunks) yield ok(encoder.encode(chunk));
}
