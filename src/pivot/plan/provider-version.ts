/** Versions of providers, compared as semantic versions. Pure. */
const PATTERN = /^v?([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})(?:-([0-9A-Za-z.-]{1,100}))?(?:\+[0-9A-Za-z.-]{1,100})?$/;

/** Whether `version` is at least `wanted`; undefined when one of them is no version. */
export function isAtLeast(version: string, wanted: string): boolean | undefined {
  const [left, right] = [PATTERN.exec(version), PATTERN.exec(wanted)];
  if (left === null || right === null) return undefined;
  for (const at of [1, 2, 3]) {
    const difference = Number(left[at]) - Number(right[at]);
    if (difference !== 0) return difference > 0;
  }
  return comparePreReleases(left[4], right[4]) >= 0;
}

/** A version without a pre-release is the newest. */
function comparePreReleases(left: string | undefined, right: string | undefined): number {
  if (left === right) return 0;
  if (left === undefined || right === undefined) return left === undefined ? 1 : -1;
  const [a, b] = [left.split("."), right.split(".")];
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const [x, y] = [a[at], b[at]];
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
    if (x !== y) return comparePart(x, y);
  }
  return 0;
}

function comparePart(x: string, y: string): number {
  const [isNumberX, isNumberY] = [/^[0-9]+$/.test(x), /^[0-9]+$/.test(y)];
  if (isNumberX && isNumberY) return Number(x) - Number(y);
  if (isNumberX !== isNumberY) return isNumberX ? -1 : 1;
  return x < y ? -1 : 1;
}
