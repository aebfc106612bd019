export {
  OPERATOR_NAME,
  OPERATOR_NAMESPACE,
  operatorControllers,
  operatorDeclarations,
  operatorRbac,
  operatorScope,
  unhandledKinds,
} from "./controllers.ts";
export { createLogSink, LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogOptions } from "./logging.ts";
export { startOperator, type Operator, type OperatorConfig, type OperatorDependencies } from "./operator.ts";
export { createOtlpTracer, type OtlpOptions, type OtlpTracer } from "./tracing.ts";
