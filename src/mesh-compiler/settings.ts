/** What the mesh is like where the policies go. */
export type MeshSettings = {
  /** Of workloads, by namespace: an environment may have its own. */
  readonly trustDomain: (namespace: string) => string;
  /** The gateway that routes come through. */
  readonly gateway: (namespace: string) => GatewayIdentity;
  /** Namespaces that have a waypoint because somebody wants one, whether or not a service needs it. */
  readonly waypointWanted: (namespace: string) => boolean;
};

export type GatewayIdentity = {
  readonly namespace: string;
  readonly name: string;
  /** Istio names it after the gateway and its class. */
  readonly serviceAccount: string;
};

export const HBONE_PORT = 15_008;
export const WAYPOINT = "waypoint";
/** istio-cni sends kubelet's probes on from this address; `host` does not cover it. */
export const PROBE_CIDR = "169.254.7.127/32";
