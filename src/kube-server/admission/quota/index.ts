export { resourceQuota } from "./plugin.ts";
