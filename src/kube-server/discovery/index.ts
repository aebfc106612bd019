export { createDiscovery, type Discovery, type DiscoveryOptions } from "./discovery.ts";
