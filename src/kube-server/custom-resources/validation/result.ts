/**
 * The result of validating a value against a schema: problems, each once, and a count of matches.
 *
 * The count selects the branch of an anyOf whose errors are listed: the best match.
 */
import type { FieldCause } from "../../resource-type.ts";

/** `text` identifies a problem; the prefix of its cause is the path of the validated value, undefined for the whole object. */
export type SchemaProblem = { readonly text: string; readonly cause: (prefix: string | undefined) => FieldCause };

export class ValidationFindings {
  readonly #problems = new Map<string, SchemaProblem>();
  matches = 0;

  get problems(): readonly SchemaProblem[] {
    return [...this.#problems.values()];
  }

  add(problem: SchemaProblem | undefined): void {
    if (problem !== undefined && !this.#problems.has(problem.text)) this.#problems.set(problem.text, problem);
  }

  merge(other: ValidationFindings | undefined): void {
    if (other === undefined) return;
    for (const problem of other.#problems.values()) this.add(problem);
    this.matches += other.matches;
  }

  get isValid(): boolean {
    return this.#problems.size === 0;
  }
}

export function findingsOf(problem: SchemaProblem): ValidationFindings {
  const findings = new ValidationFindings();
  findings.add(problem);
  return findings;
}

/** A result with one match. */
export function oneMatch(): ValidationFindings {
  const findings = new ValidationFindings();
  findings.matches = 1;
  return findings;
}
