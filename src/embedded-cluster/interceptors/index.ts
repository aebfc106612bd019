export type { ActionAnswer } from "./answer.ts";
export { createDoor, type DoorOptions } from "./door.ts";
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
