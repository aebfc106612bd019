export type { ActionAnswer } from "./answer.ts";
export { createInterceptedServer, type InterceptedServerOptions } from "./intercepted-server.ts";
export type { Failing, FailureDetails } from "./failures.ts";
export {
  Interceptors,
  type Interception,
  type Interceptor,
  type InterceptorContext,
  type InterceptMatch,
  type Next,
} from "./interceptor.ts";
export { alterAnswer, alterEvents, alterRequest, answerWith, delay, failWith, loseAnswer } from "./ready-made.ts";
export { WatchControl, watchInterception, type WatchInterception } from "./watch-control.ts";
