export { startHealthServer, type Health, type HealthServer, type HealthServerOptions } from "./health/server.ts";
