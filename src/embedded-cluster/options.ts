/** The options of a cluster. All of them are optional. */
import type { Clock, FakeClock, Logger } from "#base";
import type { JsonObject, KubeObject } from "#kube";
import type { LocalMachineHost, SimulationOptions } from "#kube-controllers";
import type { EmbeddedCluster } from "./embedded-cluster.ts";
import type { Interceptor, InterceptMatch } from "./interceptors/index.ts";
import type { FieldIndex } from "./schemas/index.ts";

/**
 * A user of the cluster.
 *
 * @example { name: "alice", groups: ["developers"] }
 */
export type ClusterUser = { readonly name: string; readonly groups?: readonly string[] };

/**
 * How a cluster starts. The defaults suit a unit test: in memory, system clock, no controllers, no socket.
 *
 * @example
 * await using cluster = await startEmbeddedCluster({ crds: "config/crd", fixtures: "fixtures", clock: "fake" });
 */
export type ClusterOptions<C extends Clock = Clock> = {
  /** Objects that exist from the start, unchanged: status, uid and timestamps are kept, missing namespaces are created. */
  readonly objects?: readonly FixtureObject[];
  /** Files and folders of objects, YAML or JSON, one or several documents each. */
  readonly fixtures?: string | readonly string[];
  /** Files and folders with CustomResourceDefinitions. */
  readonly crds?: string | readonly string[];
  /** OpenAPI documents (v2, v3) as files or values: kinds that are not built in are served from them. */
  readonly openApi?: OpenApiSource | readonly OpenApiSource[];
  /** Field selectors in addition to those of Kubernetes. */
  readonly indexes?: readonly FieldIndex[];
  /** Interceptors that are active from the start, in the order of adding. */
  readonly interceptors?: readonly { readonly match: InterceptMatch; readonly interceptor: Interceptor }[];
  /**
   * The controllers of a controller manager, a scheduler and kubelets: garbage collection, namespaces, workloads, pods that become Ready.
   * Off by default, as in envtest and in controller-runtime's fake client: only the test changes objects.
   */
  readonly controllers?: boolean | ControllerOptions;
  /** "fake" does not advance until `cluster.clock.advance`. Default: "system". */
  readonly clock?: "system" | "fake" | C;
  /** The seed of uids, generated names and jitter. Runs with the same seed are equal. Default: 1; with a `dataDir`, a random one. */
  readonly seed?: number;
  /** Replaces the seeded random numbers. */
  readonly random?: () => number;
  /**
   * Stores objects in this folder, and certificate authority, tokens and port, so that kubeconfigs stay valid after a restart. Without it they
   * are lost when the cluster is closed.
   */
  readonly dataDir?: string;
  /**
   * Start with the intact part when files of `dataDir` are damaged; damaged files are kept under other names. Without it, the start fails.
   */
  readonly repair?: boolean;
  /**
   * Whether `cluster.reset()` can be called, and `POST /lattice/reset` over HTTP. The initial state is stored when the cluster has started
   * and its controllers have no work left. Default: false.
   */
  readonly resettable?: boolean;
  /** Users in addition to "admin", for `clientFor` and `kubeconfig`. A `dataDir` keeps their tokens. */
  readonly users?: readonly ClusterUser[];
  /** The text of a token file (`token,user,uid,"group1,group2"`), as for kube-apiserver: more users for HTTP. */
  readonly tokens?: string;
  /** Strategic merge patch on custom resources, by their list types (map: merge and append, set: union). A real server answers 415. */
  readonly listTypePatches?: boolean;
  /** The Kubernetes version in /version, such as v1.35.1, read at every request. Default: the one that the server emulates. */
  readonly kubernetesVersion?: () => string | undefined;
  /** Whether requests are logged in `cluster.actions`. Default: true. */
  readonly logActions?: boolean;
  readonly logger?: Logger;
};

/**
 * An object for a cluster: typed, or an object literal.
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
  /**
   * Simulates the scheduler and the kubelets, so that Pods run and Deployments become Ready. `false`: Pods stay Pending. Default: one node.
   */
  readonly simulation?: boolean | (SimulationOptions & { readonly localMachines?: LocalMachineHost });
  /** Called with the cluster before the controllers start: for a port of the simulation that reads the cluster. */
  readonly beforeStart?: (cluster: EmbeddedCluster) => void;
  /** The delay before the objects of a deleted namespace are deleted. Default: 0. */
  readonly namespaceGraceMs?: number;
  /**
   * The maximum number of Pods that the workload controllers create. Default: 5,000. An owner gets at most as many Pods as are left, so
   * that a huge workload does not block others.
   */
  readonly podLimit?: number;
  /** The number of finished Pods to keep. Default: a quarter of `podLimit`, at most 12,500. */
  readonly terminatedPodThreshold?: number;
};

export type ClockOf<O extends ClusterOptions> = O["clock"] extends "fake" ? FakeClock : O["clock"] extends Clock ? O["clock"] : Clock;
