export { startApiProxy, type ApiProxy, type ApiProxyOptions } from "./api-proxy/api-proxy.ts";
export { startHealthServer, type Health, type HealthServer, type HealthServerOptions } from "./health/server.ts";
