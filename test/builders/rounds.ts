/**
 * How many rounds a test with random input has: a sample in `npm test`, all of them in `npm run test:long`, which also runs every test
 * file that imports this module.
 */
export type Rounds = { readonly sample: number; readonly long: number };

export function roundsOf({ sample, long }: Rounds): number {
  return process.env["LATTICE_LONG"] === "1" ? long : sample;
}
