/** The conditions of a terminating namespace, with kube-controller-manager's messages: users search for them. */
import type { Condition } from "#kube";

export type Leftovers = {
  /** "plural.group" to the number of objects; "" is a group too: "pods.". */
  readonly kinds: ReadonlyMap<string, number>;
  readonly finalizers: ReadonlyMap<string, number>;
};

export type Findings = {
  readonly discoveryFailures: ReadonlyMap<string, string>;
  readonly contentErrors: readonly string[];
  /** Absent: the sweep ended before everything was counted. */
  readonly leftovers: Leftovers | undefined;
};

type NamespaceCondition = Omit<Condition, "observedGeneration">;
type NamespaceConditionDraft = Pick<NamespaceCondition, "status" | "reason" | "message">;

const NO_PROBLEMS: readonly (readonly [type: string, reason: string, message: string])[] = [
  ["NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"],
  ["NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"],
  ["NamespaceDeletionContentFailure", "ContentDeleted", "All content successfully deleted, may be waiting on finalization"],
  ["NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"],
  ["NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"],
];

/** The conditions after this sweep; the same value when nothing changed. */
export function namespaceConditions(before: readonly NamespaceCondition[], findings: Findings, now: string): readonly NamespaceCondition[] {
  const alarms = problemsOf(findings);
  let conditions = before;
  for (const [type, reason, message] of NO_PROBLEMS) {
    const draft = alarms.get(type) ?? { status: "False", reason, message };
    const index = conditions.findIndex((condition) => condition.type === type);
    const old = conditions[index];
    if (old === undefined) conditions = [...conditions, { type, ...draft, lastTransitionTime: now }];
    else if (!isSame(old, draft)) {
      conditions = conditions.with(index, {
        type,
        ...draft,
        lastTransitionTime: old.status === draft.status ? old.lastTransitionTime : now,
      });
    }
  }
  return conditions;
}

function isSame(condition: NamespaceConditionDraft, { status, reason, message }: NamespaceConditionDraft): boolean {
  return condition.status === status && condition.reason === reason && condition.message === message;
}

function problemsOf({ discoveryFailures, contentErrors, leftovers }: Findings): ReadonlyMap<string, NamespaceConditionDraft> {
  const alarms = new Map<string, NamespaceConditionDraft>();
  const say = (type: string, reason: string, message: string) => alarms.set(type, { status: "True", reason, message });
  if (discoveryFailures.size > 0) {
    const groups = [...discoveryFailures].map(([group, message]) => `${group}: ${message}`).toSorted(ascending);
    const message = `unable to retrieve the complete list of server APIs: ${groups.join(", ")}`;
    say("NamespaceDeletionDiscoveryFailure", "DiscoveryFailed", `Discovery failed for some groups, ${groups.length} failing: ${message}`);
  }
  if (contentErrors.length > 0) {
    const errors = contentErrors.toSorted(ascending).join(", ");
    const message = `Failed to delete all resource types, ${contentErrors.length} remaining: ${errors}`;
    say("NamespaceDeletionContentFailure", "ContentDeletionFailed", message);
  }
  if (leftovers !== undefined && leftovers.kinds.size > 0) {
    const message = `Some resources are remaining: ${counted(leftovers.kinds, "has", "resource instances")}`;
    say("NamespaceContentRemaining", "SomeResourcesRemain", message);
  }
  if (leftovers !== undefined && leftovers.finalizers.size > 0) {
    const message = `Some content in the namespace has finalizers remaining: ${counted(leftovers.finalizers, "in", "resource instances")}`;
    say("NamespaceFinalizersRemaining", "SomeFinalizersRemain", message);
  }
  return alarms;
}

function counted(counts: ReadonlyMap<string, number>, verb: string, what: string): string {
  const texts = [...counts].map(([name, count]) => `${name} ${verb} ${count} ${what}`);
  return texts.toSorted(ascending).join(", ");
}

function ascending(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
