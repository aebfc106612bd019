export { Authority } from "./authority.ts";
export { openEndpoint, type Endpoint, type ListenOptions, type OpenEndpoint } from "./endpoint.ts";
export { withResetPath } from "./reset-path.ts";
export { kubeconfigText, type KubeconfigParts } from "./kubeconfig.ts";
