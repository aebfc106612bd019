export { admits, agreement, outgoing, type Agreement, type Outgoing } from "./graph/agreements.ts";
export { allEdges, type Edge, type EdgeState } from "./graph/edges.ts";
export { ServiceGraph } from "./graph/graph.ts";
export {
  calls,
  declarationsByPeer,
  isCalled,
  serviceId,
  splitId,
  type PeerDeclaration,
  type Direction,
  type ExternalEndpoint,
  type ExternalNode,
  type MeshNode,
  type Port,
  type RequestRules,
  type ServiceId,
  type ServiceNode,
} from "./graph/node.ts";
export { Mesh, type AffectedNodes } from "./mesh.ts";
export { DEFAULT_DENY } from "./policies/namespace.ts";
export { HBONE_PORT, WAYPOINT, type GatewayIdentity, type MeshSettings } from "./settings.ts";
export { type IstioVerdict, type Request } from "./reachability/istio.ts";
export { CiliumPolicies, type CiliumVerdict, type Traffic } from "./reachability/cilium.ts";
export { canaryPorts, type CanaryPort } from "./reachability/canary-ports.ts";
export {
  DataPlane,
  type EnforcementPoint,
  type FlowQuery,
  type EnforcementStep,
  type ReachabilityVerdict,
} from "./reachability/data-plane.ts";
export type { Outside, Peer, PodIdentity } from "./reachability/peers.ts";
