/** The folder of this project, and its tools. Tools run with the Node of this process, never with one found in PATH. */
import { join, resolve } from "node:path";

export const projectRoot = resolve(import.meta.dirname, "../..");

const TOOLS = {
  buf: "@bufbuild/buf/bin/buf",
  oxfmt: "oxfmt/bin/oxfmt",
  oxlint: "oxlint/bin/oxlint",
  tsc: "typescript/bin/tsc",
  tsgolint: ".bin/tsgolint",
  vitest: "vitest/vitest.mjs",
} as const;

/** The JavaScript file of a tool that package.json pins. */
export function toolPath(name: keyof typeof TOOLS): string {
  return join(projectRoot, "node_modules", TOOLS[name]);
}
