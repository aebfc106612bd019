/** Settings of the mesh that the policies are applied to. */
export type MeshSettings = {
  /** Trust domain of the workloads of a namespace: an environment may have its own. */
  readonly trustDomain: (namespace: string) => string;
  /** The gateway of the routes. */
  readonly gateway: (namespace: string) => GatewayIdentity;
  /** Namespaces that have a waypoint by configuration, whether or not a service needs it. */
  readonly waypointWanted: (namespace: string) => boolean;
  /** The namespace whose pods scrape the metrics of all services. Absent: only canaries are scraped. */
  readonly monitoring?: string | undefined;
};

export type GatewayIdentity = {
  readonly namespace: string;
  readonly name: string;
  /** Istio names it after the gateway and its class. */
  readonly serviceAccount: string;
};

export const HBONE_PORT = 15_008;
export const WAYPOINT = "waypoint";
/** The port on which an Istio proxy serves its metrics without authentication. */
export const PROXY_METRICS_PORT = 15_020;
/** The name of the port of a service that scrapers may read. */
export const METRICS_PORT_NAME = "metrics";
/** The namespace of Prometheus in the instructions of Istio and Flagger. */
export const USUAL_MONITORING = "istio-system";
/** istio-cni forwards kubelet's probes from this address; the entity `host` does not cover it. */
export const PROBE_CIDR = "169.254.7.127/32";
