/**
 * What a schema says about a value: problems, each once, and how much of the value fitted.
 *
 * The count decides which branch of an anyOf is blamed: the one that came closest.
 */
import type { FieldCause } from "../../resource-type.ts";

/** `text` tells problems apart; `at` is relative to the value that was validated, and undefined for the value as a whole. */
export type Problem = { readonly text: string; readonly cause: (prefix: string | undefined) => FieldCause };

export class Findings {
  readonly problems: Problem[] = [];
  matches = 0;

  add(problem: Problem | undefined): void {
    if (problem !== undefined && !this.problems.some((known) => known.text === problem.text)) this.problems.push(problem);
  }

  merge(other: Findings | undefined): void {
    for (const problem of other?.problems ?? []) this.add(problem);
    this.matches += other?.matches ?? 0;
  }

  get isValid(): boolean {
    return this.problems.length === 0;
  }
}

export function findingsOf(problem: Problem): Findings {
  const findings = new Findings();
  findings.add(problem);
  return findings;
}

/** One that fitted. */
export function oneMatch(): Findings {
  const findings = new Findings();
  findings.matches = 1;
  return findings;
}
