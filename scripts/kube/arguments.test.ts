import { expect, test } from "vitest";
import { err, ok } from "#base";
import { HELP, parseArguments, type Arguments } from "./arguments.ts";

const given = (some: Partial<Arguments>) => ok({ help: false, up: false, all: false, bin: undefined, vitest: [], ...some });

const rows = [
  { name: "without arguments: the short lane", args: [], want: given({}) },
  { name: "filters are passed to vitest", args: ["crds", "-t", "short names"], want: given({ vitest: ["crds", "-t", "short names"] }) },
  { name: "--all takes the long stories too", args: ["--all"], want: given({ all: true }) },
  { name: "--all with a filter", args: ["--all", "conformance"], want: given({ all: true, vitest: ["conformance"] }) },
  { name: "--bin takes the next argument", args: ["--bin", "/b", "crds"], want: given({ bin: "/b", vitest: ["crds"] }) },
  { name: "--bin= takes its own", args: ["--bin=/b"], want: given({ bin: "/b" }) },
  { name: "--up keeps a plane", args: ["--up"], want: given({ up: true }) },
  { name: "--help prints the text", args: ["--help"], want: given({ help: true }) },
  { name: "-h does too", args: ["-h"], want: given({ help: true }) },
  { name: "--bin alone is a mistake", args: ["--bin"], want: err("--bin needs a folder") },
  { name: "--up with a filter is a mistake", args: ["--up", "crds"], want: err("--up runs no stories, so it takes no crds") },
  { name: "--up with --all is a mistake", args: ["--up", "--all"], want: err("--up runs no stories, so it takes no --all") },
];

test.each(rows)("$name", ({ args, want }) => {
  expect(parseArguments(args)).toEqual(want);
});

test("the help names every option, and what a filter is", () => {
  for (const text of ["--all", "--up", "--bin DIR", "--help", "FILTER", "-t TEXT"]) expect(HELP).toContain(text);
  expect(HELP.split("\n").filter((line) => line.length > 120)).toEqual([]);
});
