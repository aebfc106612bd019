/** Serves an API server on a socket: every request that the listener accepts is answered by `answerHttp`. */
import { mapErr, type Result } from "#base";
import { LISTENER_LIMITS, listen, type Listener, type ListenerOptions } from "#listener";
import { TurnBudget } from "../turns.ts";
import { answerHttp, type Exchange } from "./answer-http.ts";

export type ServeHttpOptions = Omit<ListenerOptions, "clock" | "overflow">;

export async function serveHttp(options: ServeHttpOptions, exchange: Exchange): Promise<Result<Listener, string>> {
  const { clock } = exchange;
  const limits = { ...LISTENER_LIMITS, ...options.limits };
  const limited = { ...exchange, limits, turns: new TurnBudget(clock) };
  const listening = await listen({ ...options, limits, clock }, (request, response) => void answerHttp(request, response, limited));
  return mapErr(listening, (reason) => `cannot listen on ${options.host}:${options.port}: ${reason}`);
}
