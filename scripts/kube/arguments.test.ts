import { expect, test } from "vitest";
import { err, ok } from "#base";
import { parseArguments } from "./arguments.ts";

const rows = [
  { name: "nothing is all stories", given: [], want: ok({ up: false, bin: undefined, vitest: [] }) },
  {
    name: "filters go to vitest",
    given: ["crds", "-t", "short names"],
    want: ok({ up: false, bin: undefined, vitest: ["crds", "-t", "short names"] }),
  },
  { name: "--bin takes the next argument", given: ["--bin", "/b", "crds"], want: ok({ up: false, bin: "/b", vitest: ["crds"] }) },
  { name: "--bin= takes its own", given: ["--bin=/b"], want: ok({ up: false, bin: "/b", vitest: [] }) },
  { name: "--up keeps a plane", given: ["--up"], want: ok({ up: true, bin: undefined, vitest: [] }) },
  { name: "--bin alone is a mistake", given: ["--bin"], want: err("--bin needs a folder") },
  { name: "--up with a filter is a mistake", given: ["--up", "crds"], want: err("--up runs no stories, so it takes no crds") },
];

test.each(rows)("$name", ({ given, want }) => {
  expect(parseArguments(given)).toEqual(want);
});
