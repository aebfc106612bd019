/** When an indexed Job has succeeded before all indexes have: `successPolicy`. */
import type { Job } from "#kube";
import { countCommon, countIndexes, parseIndexes, type Indexes } from "./indexes.ts";

/** The rule that is met; undefined when none is. */
export function metSuccessRule({ spec }: Job, succeeded: Indexes): string | undefined {
  if (succeeded.length === 0) return undefined;
  const index = (spec.successPolicy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && countIndexes(succeeded) >= succeededCount;
    const required = parseIndexes(succeededIndexes, spec.completions ?? 0);
    const common = countCommon(required, succeeded);
    return required.length > 0 && (common === countIndexes(required) || (succeededCount !== undefined && common >= succeededCount));
  });
  return index < 0 ? undefined : `Matched rules at index ${index}`;
}
