export { createDiscovery, type Discovery, type DiscoveryOptions } from "./discovery.ts";
export { GIT_VERSION, versionInfo } from "./version.ts";
