export { openIdentity, type ClusterIdentity } from "./cluster-identity.ts";
export { firstPorts, portsAfter } from "./port-file.ts";
export { createToken } from "./token-map.ts";
