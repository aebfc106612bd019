/** Versions of semver.org, parsed as strictly as blang/semver does. */
import { err, ok, type Result } from "#base";

export type SemanticVersion = {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly prerelease: readonly string[];
};

const NUMBER = "0|[1-9][0-9]{0,19}";
const VERSION = new RegExp(`^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-([0-9A-Za-z.-]+))?(?:\\+([0-9A-Za-z.-]+))?$`);

export function parseVersion(text: string): Result<SemanticVersion, string> {
  const match = VERSION.exec(text);
  if (match === null) return err(text === "" ? "Version string empty" : "No Major.Minor.Patch elements found");
  const [, major = "0", minor = "0", patch = "0", prerelease, build] = match;
  const identifiers = prerelease?.split(".") ?? [];
  if ([...identifiers, ...(build?.split(".") ?? [])].includes("")) return err("Prerelease is empty");
  const padded = identifiers.find((part) => /^0\d+$/.test(part));
  if (padded !== undefined) return err(`Numeric PreRelease version must not contain leading zeroes "${padded}"`);
  return ok({ major: BigInt(major), minor: BigInt(minor), patch: BigInt(patch), prerelease: identifiers });
}

/** "v1.02" becomes "1.2.0" first. */
export function parseLooseVersion(text: string): Result<SemanticVersion, string> {
  const parts = text.replace(/^v/, "").split(".");
  const head = parts.slice(0, 2);
  const numbers = [...head, ...(parts.length > 2 ? [parts.slice(2).join(".")] : [])].map(withoutZeros);
  if (numbers.length < 3 && /[+-]/.test(numbers.at(-1) ?? "")) return err("short version cannot contain PreRelease/Build meta data");
  while (numbers.length < 3) numbers.push("0");
  return parseVersion(numbers.join("."));
}

function withoutZeros(part: string): string {
  if (part.length <= 1) return part;
  const rest = part.replace(/^0+/, "");
  return /^\d/.test(rest) ? rest : `0${rest}`;
}

export function compareVersions(a: SemanticVersion, b: SemanticVersion): number {
  for (const name of ["major", "minor", "patch"] as const) if (a[name] !== b[name]) return a[name] < b[name] ? -1 : 1;
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return Math.sign(b.prerelease.length - a.prerelease.length);
  for (const [at, left] of a.prerelease.entries()) {
    const right = b.prerelease[at];
    if (right === undefined) return 1;
    const order = compareIdentifiers(left, right);
    if (order !== 0) return order;
  }
  return Math.sign(a.prerelease.length - b.prerelease.length);
}

/** Numeric identifiers are lower than alphanumeric ones. */
function compareIdentifiers(a: string, b: string): number {
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (left && right) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
  if (left !== right) return left ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
