export { ActionLog, describeAction, type Action, type ActionMatch, type ActionVerb, type LoggedAction } from "./actions/index.ts";
export { clusterBuilder, type ClusterBuilder } from "./builder.ts";
export { ClusterError } from "./cluster-error.ts";
export { EmbeddedCluster, type RawAnswer } from "./embedded-cluster.ts";
export { describeMove, type Endpoint, type ListenOptions } from "./endpoint/index.ts";
export {
  alterAnswer,
  alterEvents,
  alterRequest,
  answerWith,
  delay,
  failWith,
  loseAnswer,
  type ActionAnswer,
  type Failing,
  type FailureDetails,
  type Interception,
  type Interceptor,
  type InterceptorContext,
  type InterceptMatch,
  type Next,
  type WatchInterception,
} from "./interceptors/index.ts";
export type { ClusterOptions, ClusterUser, ControllerOptions, FixtureObject, OpenApiSource } from "./options.ts";
export { resources, type AnyObject } from "./resources.ts";
export type { FieldIndex } from "./schemas/index.ts";
export { startEmbeddedCluster } from "./start.ts";
export { expectOk, FakeClock, type Clock, type Err, type Logger, type Ok, type Result } from "#base";
export {
  defineResource,
  type Json,
  type JsonObject,
  type JsonPrimitive,
  type KubeList,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
  type Resource,
  type Status,
  type StatusCause,
  type Subresource,
} from "#kube";
export type {
  Fault,
  FaultHandle,
  FaultTarget,
  LocalMachineHost,
  LocalMachineRun,
  LocalMachineState,
  Mishap,
  SimulatedNode,
  Simulation,
  SimulationOptions,
  Speeds,
} from "#kube-controllers";
export type {
  ApplyOptions,
  CallOptions,
  DeleteCollectionQuery,
  DeleteOptions,
  KubeClient,
  KubeError,
  KubeErrorKind,
  KubeRaw,
  KubeReader,
  KubeWatcher,
  KubeWriter,
  ListQuery,
  PatchBody,
  PatchOptions,
  Transport,
  WatchEvent,
  WatchQuery,
} from "#kube-client";
