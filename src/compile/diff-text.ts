/** A diff for a terminal. Empty sections are omitted. */
import type { Json } from "#kube";
import { isSame, type ObjectChange, type WorldDiff } from "./diff.ts";
import type { FieldChange } from "./diff/fields.ts";
import { flowText } from "./diff/flows.ts";

/**
 * A diff for a terminal.
 *
 * @example process.stdout.write(formatDiff(diffObjects(before, after)));
 */
export function formatDiff(diff: WorldDiff): string {
  if (isSame(diff)) return "no differences\n";
  const count = (change: ObjectChange["change"]) => diff.objects.filter((one) => one.change === change).length;
  const sections = [
    section("objects", diff.objects.flatMap(objectLines)),
    section(
      "pods that roll",
      diff.rolls.map(({ workload, because }) => `  ${workload}: ${because.join(", ")}`),
    ),
    section("flows", [
      ...diff.flows.opened.map((flow) => `  opened  ${flowText(flow)}`),
      ...diff.flows.closed.map((flow) => `  closed  ${flowText(flow)}`),
    ]),
    section(
      "values that move",
      diff.moves.map(({ name, from, to }) => `  ${name}: ${from} -> ${to}`),
    ),
  ];
  return `${sections.join("")}${count("added")} added, ${count("changed")} changed, ${count("removed")} removed\n`;
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${title}\n${lines.join("\n")}\n\n`;
}

const MARKS = { added: "+", removed: "-", changed: "~" } as const;

function objectLines({ change, object, fields }: ObjectChange): readonly string[] {
  return [`  ${MARKS[change]} ${object}`, ...fields.map((field) => `      ${fieldText(field)}`)];
}

function fieldText({ path, change, before, after }: FieldChange): string {
  if (before === undefined && after === undefined) return `${path}: ${change}`;
  if (change === "changed") return `${path}: ${shortly(before)} -> ${shortly(after)}`;
  return `${path}: ${change} ${shortly(before ?? after)}`;
}

const LONGEST = 72;

function shortly(value: Json | undefined): string {
  const text = JSON.stringify(value ?? null);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}
