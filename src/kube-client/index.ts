export { openScope, type CallScope } from "./call-scope.ts";
export { createKubeClient, DEFAULT_TIMEOUT_MS, type DirectServer, type KubeClientOptions } from "./client.ts";
export {
  parseServerUrl,
  staticCredentials,
  type ClientCertificate,
  type ClusterConfig,
  type Credential,
  type Credentials,
  type Impersonation,
  type ServerUrl,
} from "./cluster-config.ts";
export type { Command, CommandOutcome, RunCommand } from "./credentials/run-command.ts";
export { errorOfResponse, failure, type KubeError, type KubeErrorKind } from "./errors.ts";
export { httpTransport, type HttpTransportOptions } from "./http/http-transport.ts";
export { inProcessTransport, type InProcessHandler } from "./in-process.ts";
export { inClusterConfig, type InClusterOptions } from "./kubeconfig/in-cluster.ts";
export { parseKubeconfig, type Kubeconfig, type KubeconfigError, type KubeconfigErrorKind } from "./kubeconfig/kubeconfig.ts";
export { loadKubeconfig, readKubeconfig, type LoadKubeconfigOptions } from "./kubeconfig/load.ts";
export { applyManifests, applyObjects, type ApplyManifests } from "./manifests/apply-manifests.ts";
export { ServedKinds } from "./manifests/served-kinds.ts";
export type { ReadFile } from "./read-text.ts";
export { resolveContext, type ResolveOptions } from "./kubeconfig/resolve.ts";
export type {
  ClientResult,
  ApplyOptions,
  CallOptions,
  DeleteCollectionQuery,
  DeleteOptions,
  KubeClient,
  KubeRaw,
  KubeReader,
  KubeWatcher,
  KubeWriter,
  ListQuery,
  PatchBody,
  PatchOptions,
  WatchEvent,
  WatchQuery,
} from "./ports.ts";
export type { KubeRequest } from "./requests.ts";
export { type RetryPolicy } from "./retry.ts";
export type { Transport, TransportResponse, TransportRequest } from "./transport.ts";
export { unlessAborted } from "./unless-aborted.ts";
export { warnOnce } from "./warnings.ts";
