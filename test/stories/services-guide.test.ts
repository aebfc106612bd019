/** docs/guides/services.md, run as it is written: each command prints what the guide shows. `…` stands for lines that were left out. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../builders/cli-io.ts";

const root = join(import.meta.dirname, "../..");
const guide = readFileSync(join(root, "docs/guides/services.md"), "utf8");

type Step = { readonly command: string; readonly shown: string };

/** One after the other, since later ones use what earlier ones wrote. */
const steps = [...guide.matchAll(/^```console\n([^]*?)^```$/gm)].flatMap(([, block = ""]): readonly Step[] =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => ({ command: part.slice(0, part.indexOf("\n")), shown: part.slice(part.indexOf("\n") + 1) })),
);

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-guide-"));
  for (const folder of ["examples", "docs/guides/services"]) cpSync(join(root, folder), join(cwd, folder), { recursive: true });
});
afterAll(() => rmSync(cwd, { recursive: true }));

/** What a terminal shows, in the order in which it was written. */
async function run(command: string): Promise<string> {
  const [program = "", ...words] = command.split(" ");
  if (program !== "./lattice") return execFileSync("sh", ["-c", command], { cwd, encoding: "utf8" });
  const at = words.indexOf(">");
  const file = at < 0 ? undefined : words[at + 1];
  let [screen, out] = ["", ""];
  const stdout = (text: string) => void (file === undefined ? (screen += text) : (out += text));
  await runCli(at < 0 ? words : words.slice(0, at), { cwd, stdout, stderr: (text) => void (screen += text) });
  if (file !== undefined) writeFileSync(join(cwd, file), out);
  return screen;
}

/** The parts that are shown, in order, with anything where lines were left out. */
function asPattern(shown: string): RegExp {
  const parts = shown.split(/^…\n/m).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("(?:.*\\n)*?")}$`);
}

test("the guide has commands to run", () => {
  expect(steps.length).toBeGreaterThan(10);
});

test.each(steps)("$command", async ({ command, shown }) => {
  expect(await run(command)).toMatch(asPattern(shown));
});
