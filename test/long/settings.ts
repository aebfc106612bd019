/** Settings of the long tests from the environment: the random seed and the number of rounds. */
import { seededRandom } from "#base";

export const seed = wholeNumber("LATTICE_SEED", 1);
export const rounds = wholeNumber("LATTICE_ROUNDS", 1_000);

/** A new stream of numbers that depends on the seed alone. */
export function seededStream(): () => number {
  return seededRandom(seed);
}

function wholeNumber(name: string, otherwise: number): number {
  const value = Number(process.env[name] || otherwise);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${name} must be a whole number`);
  return value;
}
