export { Authority } from "./authority.ts";
export { openEndpoint, type Endpoint, type ListenOptions, type OpenEndpoint } from "./endpoint.ts";
export { kubeconfigText, type KubeconfigParts } from "./kubeconfig.ts";
