/** Everything that can be said about a cluster before it starts. All of it is optional. */
import type { Clock, FakeClock, Logger } from "#base";
import type { JsonObject, KubeObject } from "#kube";
import type { SimulationOptions } from "#kube-controllers";
import type { Interceptor, InterceptMatch } from "./interceptors/index.ts";
import type { FieldIndex } from "./schemas/index.ts";

/**
 * Somebody who talks to the cluster.
 *
 * @example { name: "alice", groups: ["developers"] }
 */
export type ClusterUser = { readonly name: string; readonly groups?: readonly string[] };

/**
 * How a cluster starts. What is left out has a default that suits a unit test: in memory, system clock, no controllers, no socket.
 *
 * @example
 * await using cluster = await startEmbeddedCluster({ crds: "config/crd", fixtures: "fixtures", clock: "fake" });
 */
export type ClusterOptions<C extends Clock = Clock> = {
  /** Objects that are there from the start, as they are: status, uid and timestamps are kept, missing namespaces are made. */
  readonly objects?: readonly FixtureObject[];
  /** Files and folders of objects, YAML or JSON, one or several documents each. */
  readonly fixtures?: string | readonly string[];
  /** Files and folders with CustomResourceDefinitions. */
  readonly crds?: string | readonly string[];
  /** OpenAPI documents (v2, v3) as files or values: kinds that the server does not have are served from them. */
  readonly openApi?: OpenApiSource | readonly OpenApiSource[];
  /** Field selectors beside those that Kubernetes has. */
  readonly indexes?: readonly FieldIndex[];
  /** Interceptors that are there from the start, in the order in which they would be put in. */
  readonly interceptors?: readonly { readonly match: InterceptMatch; readonly interceptor: Interceptor }[];
  /**
   * What a controller manager, a scheduler and kubelets do: garbage collection, namespaces, workloads, pods that become Ready. Off by
   * default, as in envtest and in controller-runtime's fake client: nothing happens that the test did not do.
   */
  readonly controllers?: boolean | ControllerOptions;
  /** "fake" stands still until `cluster.clock.advance`. Default: "system". */
  readonly clock?: "system" | "fake" | C;
  /** Of uids, generated names and jitter. The same seed gives the same run; 1 by default, but another each time with a `dataDir`. */
  readonly seed?: number;
  /** Instead of a seed. */
  readonly random?: () => number;
  /** Keeps everything in this folder; without it everything is gone with the cluster. */
  readonly dataDir?: string;
  /** Go on with what is whole when files of `dataDir` are damaged; the damaged files are kept under other names. Without it, starting fails. */
  readonly repair?: boolean;
  /**
   * Whether `cluster.reset()` can be called, and `POST /lattice/reset` over HTTP. The initial state is taken when the cluster has started and its
   * controllers have nothing left to do. Default: false.
   */
  readonly resettable?: boolean;
  /** People besides "admin", for `clientFor` and `kubeconfig`. */
  readonly users?: readonly ClusterUser[];
  /** The text of a token file (`token,user,uid,"group1,group2"`), as kube-apiserver takes it: more people for HTTP. */
  readonly tokens?: string;
  /** Strategic merge patch on custom resources, by their list types (map: merge and append, set: union). A real server answers 415. */
  readonly listTypePatches?: boolean;
  /** Whether requests are noted in `cluster.actions`. Default: true. */
  readonly logActions?: boolean;
  readonly logger?: Logger;
};

/**
 * An object for a cluster: typed, or as plain as a literal.
 *
 * @example { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { key: "value" } }
 */
export type FixtureObject = KubeObject | { readonly apiVersion: string; readonly kind: string; readonly [field: string]: unknown };

/**
 * A file with an OpenAPI document, or the document.
 *
 * @example "testdata/swagger.json"
 */
export type OpenApiSource = string | JsonObject;

/**
 * How the controllers run.
 *
 * @example { simulation: { nodes: 3, speeds: { startMs: 0 } } }
 */
export type ControllerOptions = {
  /** Plays the scheduler and the kubelets, so that Pods run and Deployments become Ready. `false`: Pods stay Pending. Default: one node. */
  readonly simulation?: boolean | SimulationOptions;
  /** How long a deleted namespace is left alone; 0. */
  readonly namespaceGraceMs?: number;
  /**
   * So many Pods the workload controllers let the cluster have; 5,000. An owner may have no more Pods than are left, so that one huge
   * workload leaves room for others.
   */
  readonly podLimit?: number;
  /** So many finished Pods are kept; a quarter of `podLimit`, at most 12,500. */
  readonly terminatedPodThreshold?: number;
};

export type ClockOf<O extends ClusterOptions> = O["clock"] extends "fake" ? FakeClock : O["clock"] extends Clock ? O["clock"] : Clock;
