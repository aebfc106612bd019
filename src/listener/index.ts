export { LIMITS, type Limits } from "./limits.ts";
export { listen, type HttpHandler, type HttpRequest, type HttpResponse, type Listener, type ListenerOptions } from "./listener.ts";
export { StalledWrites } from "./stalled-writes.ts";
export { watchSession } from "./watch-session.ts";
