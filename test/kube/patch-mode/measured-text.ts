/** A measurement as text: fields with the same result share a line. */
import type { MeasuredStep } from "./measure.ts";
import { FIRST, ownedManifest } from "./owned-manifest.ts";
import { NEWER_LEVEL, valuesIn, WRITTEN, withWrittenFields } from "./written-fields.ts";

const OURS = valuesIn(withWrittenFields(ownedManifest(FIRST)));

export function stepText(step: MeasuredStep): string {
  const lines = [...Map.groupBy(WRITTEN, ({ name }) => fieldText(step, name))].map(
    ([result, fields]) => `    ${fields.map(({ name }) => name).join(", ")}: ${result}`,
  );
  return [`  ${step.step}: ${outcome(step)}`, ...lines, ""].join("\n");
}

function outcome({ error, reviews, specChanged, generationRaised }: MeasuredStep): string {
  // a server repeats a patch, and its review, when the status was written meanwhile
  const asked = [...new Set(reviews.map(({ operation, manager }) => `${operation} by ${manager}`))].join(", ");
  return [
    error === "" ? "succeeds" : `fails: ${conflictsIn(error)}`,
    asked === "" ? "no review" : asked,
    specChanged ? "spec changed" : "spec kept",
    generationRaised ? "generation raised" : "generation kept",
  ].join("; ");
}

/** The conflicts alone: the tools wrap them in texts of their own. */
function conflictsIn(error: string): string {
  const conflicts = error.match(/conflict with "[^"]+"( using [^:]+)?: \.[^\s"]+("[^"]*"[^\s"]*)*/g);
  return conflicts === null ? error : conflicts.join(", ");
}

function fieldText({ reviews: [review], values, owners }: MeasuredStep, name: string): string {
  const by = owners[name] ?? [];
  const incoming = review === undefined ? [] : [`incoming ${valueText(name, review.object[name])}`];
  return [...incoming, `stored ${valueText(name, values[name])}`, by.length === 0 ? "no owner" : `owner ${by.join(", ")}`].join("; ");
}

function valueText(name: string, value: string | undefined): string {
  if (value === undefined) return "absent";
  if (value === NEWER_LEVEL) return "Lattice's newer one";
  return value === OURS[name] ? "Lattice's" : "the tool's";
}
