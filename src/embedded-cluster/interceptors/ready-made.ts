/** Common interceptors: fail, wait, change. Each can be the second argument of `cluster.intercept`. */
import { sleep } from "#base";
import type { Json, JsonObject, KubeObject } from "#kube";
import type { Action } from "../actions/index.ts";
import type { ActionAnswer } from "./answer.ts";
import { statusOf, type Failing, type FailureDetails } from "./failures.ts";
import type { Interceptor } from "./interceptor.ts";

/**
 * Responds with a failure, without calling the cluster. A kind has the message of a real server; a Status is sent unchanged; "network"
 * breaks the connection.
 *
 * @example
 * cluster.intercept({ verb: "update", times: 1 }, failWith("conflict"));
 * cluster.intercept({ verb: "list" }, failWith("too-many-requests", { retryAfterSeconds: 2 }));
 */
export function failWith(failing: Failing, details: FailureDetails = {}): Interceptor {
  return (action): ActionAnswer => {
    if (failing === "network") return { kind: "broken" };
    const status = statusOf(failing, action, details);
    return { kind: "json", code: status.code ?? 500, body: status as unknown as Json, warnings: [] };
  };
}

/**
 * Calls the cluster, then breaks the connection: the caller cannot know whether its write took effect.
 *
 * @example cluster.intercept({ verb: "create", times: 1 }, loseAnswer());
 */
export function loseAnswer(): Interceptor {
  return async (_action, next) => {
    await next();
    return { kind: "broken" };
  };
}

/**
 * Waits on the cluster's clock, then continues. A request that is aborted meanwhile never reaches the cluster.
 *
 * @example cluster.intercept({ resource: "secrets" }, delay(5_000));
 */
export function delay(ms: number): Interceptor {
  return async (_action, next, { clock, signal }) => ((await sleep(clock, ms, signal)) ? next() : { kind: "broken" });
}

/**
 * Changes the body of a request; `undefined` leaves it unchanged.
 *
 * @example cluster.intercept({ verb: "create" }, alterRequest((body) => ({ ...body, data: { injected: "yes" } })));
 */
export function alterRequest(change: (body: Json | undefined, action: Action) => Json | undefined): Interceptor {
  return (action, next) => {
    const body = change(action.body === undefined ? undefined : structuredClone(action.body), action);
    return body === undefined ? next() : next({ body });
  };
}

/**
 * Changes the body of a response, also of a failed request: check `code`.
 *
 * @example cluster.intercept({ verb: "get", resource: "nodes" }, alterAnswer((body) => ({ ...body, status: {} })));
 */
export function alterAnswer(change: (body: Json, code: number, action: Action) => Json): Interceptor {
  return async (action, next) => {
    const answer = await next();
    return answer.kind === "json" ? { ...answer, body: change(answer.body, answer.code, action) } : answer;
  };
}

/**
 * Responds with 200 and this value, without calling the cluster.
 *
 * @example cluster.intercept({ verb: "get", resource: "pods", name: "ghost" }, answerWith(pod));
 */
export function answerWith(body: KubeObject | Json, code = 200): Interceptor {
  return () => ({ kind: "json", code, body: body as Json, warnings: [] });
}

/**
 * Changes the events of a watch: another event, `undefined` to drop it, "end" to end the watch like a server that restarts.
 *
 * @example cluster.intercept({ verb: "watch" }, alterEvents((event) => (event["type"] === "DELETED" ? undefined : event)));
 */
export function alterEvents(change: (event: JsonObject) => JsonObject | undefined | "end"): Interceptor {
  return async (_action, next) => {
    const answer = await next();
    return answer.kind === "watch" ? { kind: "watch", events: altered(answer.events, change) } : answer;
  };
}

async function* altered(events: AsyncIterable<Json>, change: Parameters<typeof alterEvents>[0]): AsyncGenerator<Json, void> {
  for await (const event of events) {
    const next = change(event as JsonObject);
    if (next === "end") return;
    if (next !== undefined) yield next;
  }
}
