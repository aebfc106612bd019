export type { HttpHandler, HttpRequest, HttpResponse, ListenerTls, TlsVersion } from "./http-server.ts";
export type { AcceptUpgrade, UpgradeHandler, UpgradeHeaders } from "./http-upgrade.ts";
export { LISTENER_LIMITS, type ListenerLimits } from "./limits.ts";
export { listen, type Listener, type ListenerOptions } from "./listener.ts";
export { discardBody, readBody, type BodyError } from "./request-body.ts";
export { abortResponse, pacedWriter, writeHead, type Pacing, type ResponseHead } from "./response-writer.ts";
