export { CELL_AUTHORITY_SECRET } from "./cell/authority-secret.ts";
export { OPERATOR_NAME, OPERATOR_NAMESPACE, operatorControllers, operatorRbac, operatorScope } from "./controllers.ts";
export { clusterDeclarations } from "./cluster-parts.ts";
export { operatorDeployment, operatorImage, OPERATOR_CONTAINER, type OperatorDeploymentOptions } from "./deployment.ts";
export { openIdentityFile, type IdentityFileOptions, type KeptIdentity } from "./identity-file.ts";
export { createLogSink, type LogFormat, type LogOptions } from "./logging.ts";
export { startOperator, type Operator, type OperatorConfig, type OperatorDependencies } from "./operator.ts";
export type { OperatorPart, ReplicaContext, ReplicaPart, RunningReplicaPart } from "./parts.ts";
export { createOtlpTracer, type OtlpOptions, type OtlpTracer } from "./tracing.ts";
