/** "0/3 nodes are available: …", as kube-scheduler counts and sorts its reasons. */

/** `movable`: other Pods prevent it. Otherwise no eviction would help. */
export type Refusal = { readonly reasons: readonly string[]; readonly movable: boolean };

export function unschedulableMessage(refusals: readonly Refusal[]): string {
  const total = refusals.length;
  if (total === 0) return "no nodes available to schedule pods";
  const helpless = refusals.filter(({ movable }) => !movable).length;
  const preemption = histogram([
    ...Array.from({ length: total - helpless }, () => "No preemption victims found for incoming pod"),
    ...Array.from({ length: helpless }, () => "Preemption is not helpful for scheduling"),
  ]);
  const reasons = histogram(refusals.flatMap((refusal) => refusal.reasons));
  return `0/${total} nodes are available: ${reasons}. preemption: 0/${total} nodes are available: ${preemption}.`;
}

/** Problems that no node can solve: the Pod references an object that does not exist. */
export function blockedMessage(total: number, why: string): string {
  const preemption = `preemption: 0/${total} nodes are available: ${total} Preemption is not helpful for scheduling.`;
  return `0/${total} nodes are available: ${why}. ${preemption}`;
}

function histogram(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .toSorted()
    .join(", ");
}
