/**
 * The API server behind the log and the interceptors: every request, over HTTP or in this process, is recorded here and passed to the
 * interceptors.
 *
 * It is an ApiServer itself. Without a log and interceptors it adds no work. Otherwise a request over HTTP is authorized after its body was
 * read: the log has refused requests too, and interceptors run before authorization.
 */
import { ok, type Clock } from "#base";
import { fieldAt } from "#kube";
import type { ApiRequest, ApiResponse, ApiServer } from "#kube-server";
import { actionOf, type ActionLog, type Outcome } from "../actions/index.ts";
import { answerOf, responseOf, type ActionAnswer } from "./answer.ts";
import { runChain, type Interceptors } from "./interceptor.ts";

export type InterceptedServerOptions = {
  readonly server: ApiServer;
  readonly interceptors: Interceptors;
  readonly clock: Clock;
  /** Absent: requests are not logged. */
  readonly log?: ActionLog | undefined;
  /** The requests are those of the cluster's own controllers. */
  readonly own?: boolean | undefined;
};

export function createInterceptedServer(options: InterceptedServerOptions): ApiServer {
  const { server, interceptors, log } = options;
  const isTransparent = () => log === undefined && interceptors.none;
  return {
    types: server.types,
    store: server.store,
    ...(server.authenticate === undefined ? {} : { authenticate: server.authenticate }),
    close: () => server.close(),
    handle: (request, signal) => (isTransparent() ? server.handle(request, signal) : through(options, request, signal)),
    authorize: (request) =>
      isTransparent() ? server.authorize(request) : ok((body, signal) => through(options, { ...request, body }, signal)),
  };
}

async function through(
  { server, interceptors, clock, log, own = false }: InterceptedServerOptions,
  request: ApiRequest,
  signal: AbortSignal,
) {
  const action = actionOf(request, server.types);
  const answered = log?.note(action);
  const chosen = interceptors.take(action, own);
  const response = chosen.length === 0 ? await server.handle(request, signal) : await intercepted();
  answered?.(outcomeOf(response));
  return response;

  async function intercepted(): Promise<ApiResponse> {
    let original: { readonly response: ApiResponse; readonly answer: ActionAnswer } | undefined;
    const answer = await runChain(chosen, {
      action,
      context: { clock, signal },
      finally: async (change) => {
        const given = await server.handle(change?.body === undefined ? request : { ...request, body: { value: change.body } }, signal);
        original = { response: given, answer: answerOf(given) };
        return original.answer;
      },
    });
    // an unchanged response is returned as it is, except a stream: it can be read only once, and `answerOf` reads it
    if (original?.answer === answer && answer.kind !== "watch") return original.response;
    return responseOf(answer, original?.response.headers);
  }
}

function outcomeOf({ status, body }: ApiResponse): Outcome {
  if (body.kind === "cut") return { code: undefined, reason: "network" };
  const reason = status >= 400 && body.kind === "json" ? fieldAt(body.value, "reason") : undefined;
  return { code: status, reason: typeof reason === "string" ? reason : undefined };
}
