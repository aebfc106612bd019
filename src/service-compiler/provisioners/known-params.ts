/** Which params a resource may have. Any other is an error: what a typing error was meant to narrow would be open. */
import { didYouMean } from "#crds";
import { AGREEMENT_PARAMS } from "./agreement.ts";
import type { Provisioner } from "./provisioner.ts";
import { shownName } from "./render-params.ts";
import type { ResourceEntry } from "./resolve.ts";

const MOST_NAMED = 10;

/** undefined: there is none. An inbound peer has the params of an agreement, whatever its type. */
export function unknownParams(entry: ResourceEntry, provisioner: Provisioner | undefined): string | undefined {
  const known = knownParams(entry, provisioner);
  if (known === undefined) return undefined;
  const unknown = Object.keys(entry.params).filter((name) => !known.includes(name));
  if (unknown.length === 0) return undefined;
  const texts = unknown.slice(0, MOST_NAMED).map((name) => {
    const near = didYouMean(name, known);
    const hint = near !== "" ? near : known.length === 0 ? `; ${entry.type} has no parameters` : `; there are ${known.join(", ")}`;
    return `params.${shownName(name)}: unknown parameter${hint}`;
  });
  return [...texts, ...(unknown.length > MOST_NAMED ? [`and ${unknown.length - MOST_NAMED} more`] : [])].join("; ");
}

function knownParams({ direction }: ResourceEntry, provisioner: Provisioner | undefined): readonly string[] | undefined {
  if (direction === "inbound") return AGREEMENT_PARAMS;
  if (provisioner?.params === undefined) return undefined;
  return direction === "both" ? [...new Set([...provisioner.params, ...AGREEMENT_PARAMS])] : provisioner.params;
}
