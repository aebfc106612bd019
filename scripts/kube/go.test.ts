import { expect, test } from "vitest";
import { err, ok } from "#base";
import { checkGoVersion, findGo, goEnvironment } from "./go.ts";

const versions = [
  { name: "the oldest supported version", given: "go1.26.0", want: ok("go1.26.0") },
  { name: "a newer minor", given: "go1.30", want: ok("go1.30") },
  { name: "a release candidate", given: "go1.27rc1", want: ok("go1.27rc1") },
  { name: "the sentence of `go version`", given: "go version go1.26.8 linux/amd64", want: ok("go1.26.8") },
  { name: "one minor too old", given: "go1.25.9", want: err("Go is too old (go1.25.9; 1.26 or newer is needed)") },
  { name: "no version", given: "gccgo", want: err('Go does not print its version ("gccgo")') },
];

test.each(versions)("Go's version is compared by number: $name", ({ given, want }) => {
  expect(checkGoVersion(given)).toEqual(want);
});

test("a machine without Go is an error", async () => {
  expect(await findGo({ PATH: "/nonexistent" })).toEqual(err("Go is not installed"));
});

test("Go settings of the user do not affect the build", () => {
  const environment = goEnvironment({ GOFLAGS: "-mod=vendor", GOOS: "plan9", GOPROXY: "https://mirror.example" });
  expect(environment).toMatchObject({ GOFLAGS: "", GOOS: "", GOWORK: "off", CGO_ENABLED: "0", GOPROXY: "https://mirror.example" });
});
