/**
 * What a schema says about a value: problems, each once, and how much of the value fitted.
 *
 * The count decides which branch of an anyOf is blamed: the one that came closest.
 */
import type { FieldCause } from "../../resource-type.ts";

/** `text` tells problems apart; `at` is relative to the value that was validated, and undefined for the value as a whole. */
export type Problem = { readonly text: string; readonly cause: (prefix: string | undefined) => FieldCause };

export class Findings {
  readonly #problems = new Map<string, Problem>();
  matches = 0;

  get problems(): readonly Problem[] {
    return [...this.#problems.values()];
  }

  add(problem: Problem | undefined): void {
    if (problem !== undefined && !this.#problems.has(problem.text)) this.#problems.set(problem.text, problem);
  }

  merge(other: Findings | undefined): void {
    if (other === undefined) return;
    for (const problem of other.#problems.values()) this.add(problem);
    this.matches += other.matches;
  }

  get isValid(): boolean {
    return this.#problems.size === 0;
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
