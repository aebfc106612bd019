/** How a rolling update moves replicas from old MachineSets to the new one. Pure: the numbers of a pass in, the new replicas out. */
export type SetView = { readonly name: string; readonly replicas: number; readonly machines: number; readonly available: number };

export type RolloutInput = {
  readonly replicas: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
  readonly current: SetView;
  /** The oldest first. */
  readonly old: readonly SetView[];
  /** OnDelete: old machines stay until a user deletes them. */
  readonly onDelete: boolean;
};

/** By name: the replicas that a MachineSet should have; sets that do not change are absent. */
export function planRollout(input: RolloutInput): ReadonlyMap<string, number> {
  const plan = new Map<string, number>();
  const target = targetOfCurrent(input);
  if (target !== input.current.replicas) plan.set(input.current.name, target);
  const shrunk = input.onDelete ? shrinkDeleted(input) : shrinkOld(input);
  for (const [name, replicas] of shrunk) plan.set(name, replicas);
  return plan;
}

const sum = (sets: readonly SetView[], of: (set: SetView) => number) => sets.reduce((total, set) => total + of(set), 0);

function targetOfCurrent({ replicas, maxSurge, current, old, onDelete }: RolloutInput): number {
  if (current.replicas >= replicas) return replicas;
  const others = onDelete ? sum(old, ({ machines }) => machines) : sum(old, (set) => Math.max(set.replicas, set.machines));
  const room = (onDelete ? replicas : replicas + maxSurge) - others - current.replicas;
  return Math.min(replicas, current.replicas + Math.max(0, room));
}

/** Machines that were deleted by hand are not created again in old sets. */
function shrinkDeleted({ old }: RolloutInput): ReadonlyMap<string, number> {
  return new Map(old.filter((set) => set.machines < set.replicas).map((set) => [set.name, set.machines]));
}

/** Machines that are not available go first: they cost no availability. */
function shrinkOld({ replicas, maxUnavailable, current, old }: RolloutInput): ReadonlyMap<string, number> {
  const needed = replicas - maxUnavailable;
  const plan = new Map<string, number>();
  const left = (set: SetView) => plan.get(set.name) ?? set.replicas;
  const missingInCurrent = Math.max(0, current.replicas - current.available);
  let budget = sum(old, (set) => set.replicas) + current.replicas - needed - missingInCurrent;
  for (const set of old) {
    const unavailable = Math.min(Math.max(0, budget), Math.max(0, set.replicas - set.available));
    if (unavailable > 0) plan.set(set.name, left(set) - unavailable);
    budget -= unavailable;
  }
  const spare = sum(old, ({ available }) => available) + current.available - needed;
  let removable = Math.min(Math.max(0, spare), Math.max(0, budget));
  for (const set of old) {
    const removed = Math.min(removable, left(set));
    if (removed > 0) plan.set(set.name, left(set) - removed);
    removable -= removed;
  }
  return plan;
}

/** "25%" of the replicas, rounded up or down; numbers as they are. */
export function resolveAmount(value: unknown, replicas: number, round: "up" | "down"): number | undefined {
  if (typeof value === "number") return value;
  const percent = typeof value === "string" && /^\d{1,3}%$/.test(value) ? Number(value.slice(0, -1)) : undefined;
  if (percent === undefined) return undefined;
  return round === "up" ? Math.ceil((percent * replicas) / 100) : Math.floor((percent * replicas) / 100);
}
