export { curl, type CurlOutcome } from "./curl.ts";
export { kubeadm } from "./kubeadm.ts";
export { kubectl } from "./kubectl.ts";
export type { ToolIo } from "./tool-io.ts";
