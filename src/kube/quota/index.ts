export {
  addAmounts,
  amountText,
  describeAmounts,
  growth,
  onlyNamed,
  readAmounts,
  sameAmounts,
  withoutZeros,
  writeAmounts,
  type Amount,
  type Amounts,
} from "./amounts.ts";
export type { QuotaEvaluator, QuotaScope } from "./evaluator.ts";
export { countedKind, evaluatorOf, OWN_EVALUATORS } from "./evaluators.ts";
export { podLimits, podRequests, type PodResourceRules } from "./pod-resources.ts";
export { isTerminating, usesResources } from "./pods.ts";
export { isInScope, readQuota, usageOf, type ParsedQuota } from "./resource-quota.ts";
export { quotaTypeOf } from "./services.ts";
export { claimUsageMoved } from "./volume-claims.ts";
