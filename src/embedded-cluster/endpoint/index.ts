export { Authority } from "./authority.ts";
export { describeMove, openEndpoint, type Endpoint, type ListenOptions, type OpenEndpoint } from "./endpoint.ts";
export { withResetPath } from "./reset-path.ts";
export { kubeconfigText, type KubeconfigParts } from "./kubeconfig.ts";
