/** Serves an API server on a socket: every request that the listener accepts is answered by `answerHttp`. */
import type { Result } from "#base";
import { LIMITS, listen, type Limits, type Listener, type ListenerOptions } from "#listener";
import { TurnBudget } from "../turns.ts";
import { answerHttp, type Exchange } from "./answer-http.ts";

export function serveHttp(options: Omit<ListenerOptions, "clock">, exchange: Exchange): Promise<Result<Listener, string>> {
  const { clock } = exchange;
  const limits: Limits = { ...LIMITS, ...options.limits };
  const limited = { ...exchange, limits, turns: new TurnBudget(clock) };
  return listen({ ...options, limits, clock }, (request, response) => void answerHttp(request, response, limited));
}
