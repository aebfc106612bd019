export { characters } from "./characters.ts";
export { type CheckEnvironment, type FieldTypes } from "./checked.ts";
export { check } from "./checker.ts";
export { CALL_COST_LIMIT, compileExpression, type CompiledExpression } from "./compile.ts";
export { contentText } from "./content-text.ts";
export { MAX as MAX_COST } from "./cost/sizes.ts";
export { joinDeclarations, type Declarations } from "./declarations.ts";
export { MAX_REQUEST_BYTES, nameTypes, scalarType, type DeclaredType } from "./declared-type.ts";
export { equal } from "./equality.ts";
export { escapeName, isReserved, unescapeName } from "./escaping.ts";
export { planProgram, type Program, type Run, type RunLimits } from "./evaluator.ts";
export { formatSeconds, parseGoDuration } from "./formats/durations.ts";
export { parseUrl } from "./formats/go-net.ts";
export { compileRegex, MAX_PATTERN_STEPS, PatternBudget } from "./formats/regex.ts";
export { isKnownFormat, matchesFormat } from "./formats/string-formats.ts";
export { formatInstant, parseDate, parseLocalTime, parseTimestamp } from "./formats/timestamps.ts";
export { jsonSize } from "./json-size.ts";
export { authorizerValue, resourceCheckValue } from "./library/authorization.ts";
export { kubernetesLibrary } from "./library/index.ts";
export { jsonPatch } from "./library/json-patch.ts";
export { brokenConversion } from "./literal-checks.ts";
export { mapOf } from "./maps.ts";
export { Effort, Meter, SPENT } from "./meter.ts";
export { parseExpression } from "./parser.ts";
export type { VariableValues } from "./steps.ts";
export { tooManyItems } from "./size-limits.ts";
export {
  AUTHORIZER,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  NULL,
  optionalType,
  RESOURCE_CHECK,
  sameType,
  STRING,
  structType,
  TIMESTAMP,
  UINT,
  type CelType,
} from "./types.ts";
export { typeName } from "./value-types.ts";
export {
  CelDuration,
  CelFailure,
  CelOptional,
  CelPreserved,
  CelStruct,
  CelTimestamp,
  CelUint,
  failure,
  isList,
  isMap,
  itemsOf,
  listOf,
  NO_SUCH_OVERLOAD,
  NONE,
  type CelList,
  type CelMap,
  type CelValue,
} from "./values.ts";
export type { AccessCheck, CelAuthorizer } from "./authorizer.ts";
