import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkSupported, checkVersionChange, parseKubernetesVersion } from "./versions.ts";

describe("checkVersionChange", () => {
  test.each([
    { from: "1.36.3", to: "v1.36.3", want: "ok" },
    { from: "v1.36.3", to: "1.36.4", want: "ok" },
    { from: "v1.36.3", to: "v1.37.0", want: "ok" },
    { from: "v1.36.3", to: "v1.37.0-rc.1", want: "ok" },
    { from: "v1.36.0-rc.1", to: "v1.36.0", want: "ok" },
    { from: "v1.36.0-rc.2", to: "v1.36.0-rc.10", want: "ok" },
    { from: "v1.36.0-alpha.1", to: "v1.36.0-alpha.1.2", want: "ok" },
    { from: "v1.36.0-alpha", to: "v1.36.0-beta", want: "ok" },
    { from: "v1.36.0-1", to: "v1.36.0-a", want: "ok" },
    { from: "v1.36.0+a", to: "v1.36.0+b", want: "ok" },
    { from: "v1.36.0", to: "v1.36.0-rc.1", want: "VersionDowngrade" },
    { from: "v1.36.0-a.b", to: "v1.36.0-a", want: "VersionDowngrade" },
    { from: "v1.36.0-a", to: "v1.36.0-1", want: "VersionDowngrade" },
    { from: "v1.36.3", to: "v1.36.2", want: "VersionDowngrade" },
    { from: "v1.36.3", to: "v1.35.9", want: "VersionDowngrade" },
    { from: "v1.34.0", to: "v1.36.0", want: "VersionSkipped" },
    { from: "1.36", to: "v1.36.0", want: "VersionInvalid" },
    { from: "v1.36.0", to: "2.0.0", want: "VersionInvalid" },
  ])("$from to $to: $want", ({ from, to, want }) => {
    const result = checkVersionChange(from, to);
    expect(result.ok ? "ok" : result.error.reason).toBe(want);
  });

  test("a change is never allowed in both directions, except between equal versions", () => {
    const version = fc
      .tuple(fc.integer({ min: 30, max: 33 }), fc.integer({ min: 0, max: 3 }))
      .map(([minor, patch]) => `v1.${minor}.${patch}`);
    fc.assert(
      fc.property(version, version, (a, b) => {
        const both = checkVersionChange(a, b).ok && checkVersionChange(b, a).ok;
        expect(both).toBe(a === b);
      }),
    );
  });

  test("the error names the next version", () => {
    const result = checkVersionChange("1.34.1", "1.36.0");
    expect(result.ok ? "" : result.error.message).toContain("upgrade to 1.35 first");
  });
});

test.each(["1.031.0", "1.36", "v2.1.0", "", "1.36.3 ", "1.36.3.4"])("%j is not a version", (text) => {
  expect(parseKubernetesVersion(text).ok).toBe(false);
});

test.each([
  { minor: 30, want: 1 },
  { minor: 31, want: 0 },
  { minor: 37, want: 0 },
  { minor: 38, want: 1 },
])("1.$minor has $want errors", ({ minor, want }) => {
  expect(checkSupported({ text: `v1.${minor}.0`, minor, patch: 0, prerelease: "" })).toHaveLength(want);
});
