/**
 * The KubeClient over any Transport: requests from `requests.ts`, one exchange each, responses decoded by `decode.ts`.
 *
 * Deleting a missing object is not an error.
 */
import { andThen, err, map, ok, silentLogger, type Clock, type Later, type Logger, type Result } from "#base";
import type { Json, KubeObject, Resource } from "#kube";
import { decodeJson, decodeList, decodeObject } from "./decode.ts";
import { failure, notSent, type KubeError } from "./errors.ts";
import { exchange, type ExchangeContext } from "./exchange.ts";
import type { ClientResult, CallOptions, KubeClient } from "./ports.ts";
import {
  applyRequest,
  createRequest,
  deleteCollectionRequest,
  deleteRequest,
  getRequest,
  listRequest,
  patchRequest,
  rawRequest,
  updateRequest,
  withText,
  type KubeRequest,
  type Prepared,
} from "./requests.ts";
import { DEFAULT_RETRY, type RetryPolicy } from "./retry.ts";
import type { Transport } from "./transport.ts";
import { logWarningsOnce } from "./warnings.ts";
import { watchEvents } from "./watch.ts";

export type KubeClientOptions = {
  readonly transport: Transport;
  readonly clock: Clock;
  /** For jitter between attempts. */
  readonly random: () => number;
  /** Logs the server's warnings. */
  readonly logger?: Logger;
  /** For a whole call, retries included. */
  readonly timeoutMs?: number;
  readonly retry?: RetryPolicy;
  readonly maxBodyBytes?: number;
  /** A server in this process, called with values instead of JSON text. Watches and raw paths use the transport. */
  readonly direct?: DirectServer;
};

/** Returns a copy that the caller may change. */
export type DirectServer = (request: KubeRequest, options: CallOptions) => Later<Result<Json, KubeError>>;

export const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_BODY_BYTES = 128 * 1024 * 1024;

export function createKubeClient(options: KubeClientOptions): KubeClient {
  const closing = new AbortController();
  const context: ExchangeContext = {
    transport: options.transport,
    clock: options.clock,
    random: options.random,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
    retry: options.retry ?? DEFAULT_RETRY,
    warnings: logWarningsOnce(options.logger ?? silentLogger),
    closing: closing.signal,
  };
  const { direct } = options;
  const text = (request: Prepared, call: CallOptions = {}): ClientResult<string> =>
    request.ok ? exchange(context, withText(request.value), call) : Promise.resolve(request);
  const throughText = async (request: Prepared, call: CallOptions): ClientResult<Json> => andThen(await text(request, call), decodeJson);
  // not async: awaiting one more promise takes longer than a call of a server in this process
  const json = (request: Prepared, call: CallOptions = {}): Later<Result<Json, KubeError>> => {
    if (direct === undefined || !request.ok) return throughText(request, call);
    if (closing.signal.aborted || call.signal?.aborted === true) return failure("cancelled", "the call was cancelled");
    return call.mayLeave?.() === false ? notSent() : direct(request.value, call);
  };
  const object = async <T extends KubeObject>(resource: Resource<T>, request: Prepared, call?: CallOptions): ClientResult<T> =>
    andThen(await json(request, call), (value) => decodeObject(resource, value));
  return {
    get: (resource, key, call) => object(resource, getRequest(resource, key), call),
    list: async (resource, query = {}, call = {}) =>
      andThen(await json(listRequest(resource, query), call), (value) => decodeList(resource, value)),
    watch: (resource, query, signal, onOpen) => watchEvents(context, resource, query, { signal, onOpen }),
    create: (resource, value, call = {}) => object(resource, createRequest(resource, value, call), call),
    update: (resource, value, call = {}) => object(resource, updateRequest(resource, value, call), call),
    apply: (resource, value, call) => object(resource, applyRequest(resource, value, call), call),
    patch: (resource, key, body, call = {}) => object(resource, patchRequest(resource, key, body, call), call),
    delete: async (resource, key, call = {}) => whetherThere(await json(deleteRequest(resource, key, call), call)),
    deleteCollection: async (resource, query, call = {}) =>
      map(await json(deleteCollectionRequest(resource, query, call), call), () => undefined),
    raw: (path, call) => text(rawRequest(path), call),
    async close() {
      closing.abort();
      await options.transport.close();
    },
  };
}

function whetherThere(body: Result<unknown, KubeError>): Result<boolean, KubeError> {
  if (body.ok) return map(body, () => true);
  return body.error.kind === "not-found" ? ok(false) : err(body.error);
}
