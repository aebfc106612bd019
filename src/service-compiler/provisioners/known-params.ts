/** The params that a resource may have. Any other is an error: a misspelled limit would otherwise open everything. */
import { didYouMean } from "#crds";
import { AGREEMENT_PARAMS } from "./agreement.ts";
import type { Provisioner, ResourceProblem } from "./provisioner.ts";
import { shownName } from "./render-params.ts";
import type { ResourceEntry } from "./resolve.ts";

const MOST_NAMED = 10;
const NONE: readonly ResourceProblem[] = [];

/** One problem for each unknown param. An inbound peer has the params of an agreement, for every type. */
export function unknownParams(entry: ResourceEntry, provisioner: Provisioner | undefined): readonly ResourceProblem[] {
  const known = knownParams(entry, provisioner);
  if (known === undefined) return NONE;
  const unknown = Object.keys(entry.params).filter((name) => !known.includes(name));
  if (unknown.length === 0) return NONE;
  const problems = unknown.slice(0, MOST_NAMED).map((name): ResourceProblem => {
    const near = didYouMean(name, known);
    const hint = near !== "" ? near : known.length === 0 ? `; ${entry.type} has no parameters` : `; there are ${known.join(", ")}`;
    return { kind: "other", message: `params.${shownName(name)}: unknown parameter${hint}`, field: `params.${name}` };
  });
  const more = unknown.length - MOST_NAMED;
  return more <= 0 ? problems : [...problems, { kind: "other", message: `params: ${more} more unknown parameters`, field: "params" }];
}

function knownParams({ direction }: ResourceEntry, provisioner: Provisioner | undefined): readonly string[] | undefined {
  if (direction === "inbound") return AGREEMENT_PARAMS;
  if (provisioner?.params === undefined) return undefined;
  return direction === "both" ? [...new Set([...provisioner.params, ...AGREEMENT_PARAMS])] : provisioner.params;
}
