export { compileCluster } from "./compile-cluster.ts";
export { describeClusterError, type ClusterSpecError, type ClusterSpecReason } from "./errors.ts";
export type { ClusterSettingsInput, CompiledCluster, OnceFields, WantedClusterObject } from "./input.ts";
export { CLUSTER_NAME_LABEL, DEFAULT_POOL, capiNamespace, controlPlaneName, poolName, tokenSecretName } from "./names.ts";
export { COMPILED_ANNOTATIONS } from "./providers/docker.ts";
export { POOL_LABEL } from "./pools.ts";
export { templatesToPrune } from "./templates-to-prune.ts";
