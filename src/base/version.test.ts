import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PROGRAM_VERSION } from "./version.ts";

it("the version in the code equals that of package.json", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
  expect(PROGRAM_VERSION).toBe(manifest.version);
});
