/** Versions of providers. */
import { expect, test } from "vitest";
import { isAtLeast } from "./provider-version.ts";

const rows: readonly (readonly [version: string, wanted: string, want: boolean | undefined])[] = [
  ["v1.14.2", "v1.14.2", true],
  ["1.14.3", "v1.14.2", true],
  ["v1.13.9", "v1.14.0", false],
  ["v2.0.0", "v1.99.99", true],
  ["v1.14.0-rc.1", "v1.14.0", false],
  ["v1.14.0", "v1.14.0-rc.1", true],
  ["v1.14.0-rc.10", "v1.14.0-rc.9", true],
  ["v1.14.0-alpha", "v1.14.0-alpha.1", false],
  ["v1.14.0-beta", "v1.14.0-1", true],
  ["v1.14.0+build", "v1.14.0", true],
  ["main", "v1.14.0", undefined],
  ["v1.14", "v1.14.0", undefined],
];

test.for(rows)("%s is at least %s: %s", ([version, wanted, want]) => {
  expect(isAtLeast(version, wanted)).toBe(want);
});
