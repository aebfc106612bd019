/** What differs between two runs of the real managers, so that no golden file can have it. */

/**
 * Values that a controller shows only if it runs between two writes of others: conditions before their first inspection, and the wait for
 * bootstrap data, which takes one pass.
 */
export const SHORT_LIVED = /^Unknown |^False WaitingForBootstrapData$/;

type Race = { readonly chapter: string; readonly role: string; readonly field: string; readonly why: string };

const RACES: readonly Race[] = [
  {
    chapter: "a Node fails",
    role: "Cluster c1",
    field: "ScalingUp",
    why: "a MachineSet has fewer machines than replicas only until its next pass, and the Cluster may not see it",
  },
];

export function isRace(chapter: string, role: string, field: string): boolean {
  return RACES.some((race) => race.chapter === chapter && race.role === role && race.field === field);
}
