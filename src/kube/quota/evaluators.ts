/** The evaluator of each kind: some kinds have special rules, of all others the objects are counted. */
import { deviceClaimQuota } from "./device-claims.ts";
import { objectCount, type QuotaEvaluator } from "./evaluator.ts";
import { podQuota } from "./pods.ts";
import { serviceQuota } from "./services.ts";
import { volumeClaimQuota } from "./volume-claims.ts";

/** Evaluators whose resource names do not contain the kind. */
export const OWN_EVALUATORS: readonly QuotaEvaluator[] = [
  podQuota,
  serviceQuota,
  volumeClaimQuota,
  deviceClaimQuota,
  objectCount("", "configmaps", "configmaps"),
  objectCount("", "resourcequotas", "resourcequotas"),
  objectCount("", "replicationcontrollers", "replicationcontrollers"),
  objectCount("", "secrets", "secrets"),
];

const OWN = new Map(OWN_EVALUATORS.map((evaluator) => [`${evaluator.group}/${evaluator.plural}`, evaluator]));

/** Kinds that no quota counts: kinds that are not stored, and events. */
const IGNORED: ReadonlySet<string> = new Set([
  "/bindings",
  "/componentstatuses",
  "/events",
  "events.k8s.io/events",
  "authentication.k8s.io/tokenreviews",
  "authentication.k8s.io/selfsubjectreviews",
  "authorization.k8s.io/subjectaccessreviews",
  "authorization.k8s.io/selfsubjectaccessreviews",
  "authorization.k8s.io/localsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectrulesreviews",
]);

/** Undefined for kinds that no quota counts. */
export function evaluatorOf(group: string, plural: string): QuotaEvaluator | undefined {
  const key = `${group}/${plural}`;
  return IGNORED.has(key) ? undefined : (OWN.get(key) ?? objectCount(group, plural));
}

/** "count/jobs.batch" → jobs in batch; undefined for other names. */
export function countedKind(name: string): { readonly group: string; readonly plural: string } | undefined {
  const found = /^count\/([^.]+)(?:\.(.+))?$/.exec(name);
  return found === null ? undefined : { group: found[2] ?? "", plural: found[1] ?? "" };
}
