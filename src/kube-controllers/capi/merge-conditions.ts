/**
 * Merges conditions as Cluster API does: a summary of several conditions of one object, and an aggregate of one condition of many objects. Issues
 * come before unknown, unknown before information; the texts are the same as those of the real controllers.
 */
import type { Condition, ConditionStatus, KubeObject } from "#kube";
import { unknown, type ConditionDraft } from "./conditions.ts";
import { conditionOf, isControlPlane } from "./objects.ts";

type Priority = "issue" | "unknown" | "info";
/** The reasons of the merged condition, by the worst condition. */
export type MergeReasons = { readonly issue: string; readonly unknown: string; readonly info: string };

const MESSAGES = 3;
const OBJECTS = 3;
const BULLET = /^\s*\*\s+/;

function priorityOf({ status, type }: ConditionDraft, negative: ReadonlySet<string>): Priority {
  if (status === "Unknown") return "unknown";
  return (status === "True") === negative.has(type) ? "issue" : "info";
}

function worst(priorities: readonly Priority[]): Priority {
  if (priorities.includes("issue")) return "issue";
  return priorities.includes("unknown") ? "unknown" : "info";
}

export type SummaryInput = {
  readonly type: string;
  /** In the order of relevance. */
  readonly conditions: readonly ConditionDraft[];
  /** Types for which True is the issue. */
  readonly negative?: readonly string[];
  readonly reasons: MergeReasons;
  /** Conditions that are information whatever their status. */
  readonly isInfo?: (condition: ConditionDraft) => boolean;
};

export function summarize({ type, conditions, negative = [], reasons, isInfo = () => false }: SummaryInput): ConditionDraft {
  const negatives = new Set(negative);
  const ranked = conditions.map(
    (condition) => ({ condition, priority: isInfo(condition) ? "info" : priorityOf(condition, negatives) }) as const,
  );
  const top = worst(ranked.map(({ priority }) => priority));
  const shown = ranked.filter(({ priority, condition }) => (priority === "info" ? top === "info" && condition.message !== "" : true));
  const message = shown.map(({ condition }) => `* ${condition.type}:${indented(condition.message ?? "", condition.reason)}`).join("\n");
  return { type, status: statusOfPriority(top, true), reason: reasons[top], message };
}

/** A condition that is required and absent counts as unknown. */
export function requiredCondition(drafts: readonly ConditionDraft[], object: KubeObject, type: string): ConditionDraft {
  return (
    drafts.find((draft) => draft.type === type) ??
    conditionOf(object, type) ??
    unknown(type, "NotYetReported", "Condition not yet reported")
  );
}

export type AggregateInput = {
  readonly type: string;
  /** The type of the condition of the objects. */
  readonly of: string;
  readonly objects: readonly KubeObject[];
  readonly reasons: MergeReasons;
  /** True is the issue, in the objects and in the result: ScalingUp, RollingOut. */
  readonly negative?: boolean;
  /** The reason when there are no objects; such an aggregate is True. */
  readonly empty?: string;
};

export function aggregate(input: AggregateInput): ConditionDraft {
  const { type, of, objects, reasons, negative = false, empty = reasons.info } = input;
  if (objects.length === 0) return { type, status: statusOfPriority("info", !negative), reason: empty, message: "" };
  const negatives = new Set(negative ? [of] : []);
  const found = objects.map((object) => {
    const condition = conditionOf(object, of) ?? unknown(of, "NotYetReported", `Condition ${of} not yet reported`);
    return { object, condition, priority: priorityOf(condition, negatives) };
  });
  const top = worst(found.map(({ priority }) => priority));
  const shown = found.filter(({ priority, condition }) => (top === "info" ? condition.message !== "" : priority !== "info"));
  return { type, status: statusOfPriority(top, !negative), reason: reasons[top], message: aggregateMessage(shown) };
}

function statusOfPriority(priority: Priority, positive: boolean): ConditionStatus {
  if (priority === "unknown") return "Unknown";
  return (priority === "info") === positive ? "True" : "False";
}

type Reported = { readonly object: KubeObject; readonly condition: ConditionDraft | Condition; readonly priority: Priority };
type MessageGroup = { readonly kind: string; readonly message: string; readonly reported: Reported[] };

function aggregateMessage(shown: readonly Reported[]): string {
  const groups = new Map<string, MessageGroup>();
  for (const one of shown) {
    const message = one.condition.message ?? "";
    const key = `${one.object.kind}\n${message}`;
    const group = groups.get(key) ?? { kind: one.object.kind, message, reported: [] };
    group.reported.push(one);
    groups.set(key, group);
  }
  const sorted = [...groups.values()].toSorted(moreRelevant);
  const lines = sorted.slice(0, MESSAGES).map(groupLine);
  const rest = sorted.slice(MESSAGES).flatMap(({ reported }) => reported);
  return [...lines, ...others(rest, "issue", "with other issues"), ...others(rest, "unknown", "with status unknown")].join("\n");
}

const RANK: Readonly<Record<Priority, number>> = { issue: 0, unknown: 1, info: 2 };

function moreRelevant(left: MessageGroup, right: MessageGroup): number {
  const first = ({ reported }: MessageGroup) => (reported.some(({ object }) => isControlPlane(object)) ? 0 : 1);
  const rank = ({ reported }: MessageGroup) => RANK[worst(reported.map(({ priority }) => priority))];
  const names = ({ reported }: MessageGroup) => reported.map(({ object }) => object.metadata.name).join(",");
  const order = left.kind.localeCompare(right.kind) || first(left) - first(right) || rank(left) - rank(right);
  return order || right.reported.length - left.reported.length || names(left).localeCompare(names(right));
}

function groupLine({ kind, message, reported }: MessageGroup): string {
  const names = reported.map(({ object }) => object.metadata.name).toSorted();
  const more = names.length > OBJECTS ? `, ... (${names.length - OBJECTS} more)` : "";
  return `* ${kind}${names.length === 1 ? "" : "s"} ${names.slice(0, OBJECTS).join(", ")}${more}:${indented(message)}`;
}

function others(rest: readonly Reported[], priority: Priority, text: string): readonly string[] {
  const found = rest.filter((one) => one.priority === priority);
  const [first] = found;
  return first === undefined ? [] : [`And ${found.length} ${first.object.kind}${found.length === 1 ? "" : "s"} ${text}`];
}

/** Messages of several lines, or with bullets, are indented below the name. */
function indented(message: string, fallback = ""): string {
  if (message === "") return ` ${fallback}`;
  const lines = message.split("\n");
  if (lines.length === 1 && !BULLET.test(message)) return ` ${message}`;
  const mixed = lines.some((line) => !BULLET.test(line));
  const prefixOf = (line: string) => (mixed ? (BULLET.test(line) ? "    " : "  * ") : "  ");
  return `\n${lines.map((line) => prefixOf(line) + line).join("\n")}`;
}
