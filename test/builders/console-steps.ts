/** Extracts the commands in the fenced blocks of a document, and runs them as written. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCli } from "./cli-io.ts";

export type ConsoleStep = {
  readonly command: string;
  /** The text after a `#`. */
  readonly remark: string;
  readonly shown: string;
};

/** `$ command` and the output shown below it. */
export function consoleSteps(document: string): readonly ConsoleStep[] {
  return blocksOf(document, "console").flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => ({ ...commandIn(part.slice(0, part.indexOf("\n"))), shown: part.slice(part.indexOf("\n") + 1) })),
  );
}

/** Lines of `sh` blocks, which show no output. */
export function shellSteps(document: string): readonly ConsoleStep[] {
  const lines = blocksOf(document, "sh").flatMap((block) => block.split("\n").filter((line) => line.trim() !== ""));
  return lines.map((line) => ({ ...commandIn(line), shown: "" }));
}

export function yamlBlocks(document: string): readonly string[] {
  return blocksOf(document, "yaml");
}

function blocksOf(document: string, language: string): readonly string[] {
  return [...document.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"))].map(([, block = ""]) => block);
}

function commandIn(line: string): Pick<ConsoleStep, "command" | "remark"> {
  const [, command = "", remark = ""] = /^(.*?)(?:\s+# (.*))?$/.exec(line) ?? [];
  return { command: command.trim(), remark };
}

export type StepRun = { readonly code: number; readonly screen: string; readonly stdout: string; readonly stderr: string };

/** Runs `./lattice` in this process, with `> file` and without the part after a pipe. Other commands run in a shell. */
export async function runStep(command: string, cwd: string): Promise<StepRun> {
  const [program = "", ...args] = (command.split(" | ")[0] ?? "").split(" ");
  if (program !== "./lattice") {
    const screen = execFileSync("sh", ["-c", command], { cwd, encoding: "utf8" });
    return { code: 0, screen, stdout: screen, stderr: "" };
  }
  const at = args.indexOf(">");
  const file = at < 0 ? undefined : args[at + 1];
  let [screen, out, err] = ["", "", ""];
  const stdout = (text: string) => {
    out += text;
    if (file === undefined) screen += text;
  };
  const stderr = (text: string) => {
    err += text;
    screen += text;
  };
  const { code } = await runCli(at < 0 ? args : args.slice(0, at), { cwd, stdout, stderr });
  if (file !== undefined) writeFileSync(join(cwd, file), out);
  return { code, screen, stdout: out, stderr: err };
}

/** Matches the shown parts in order, with any text where lines were left out. */
export function shownPattern(shown: string): RegExp {
  const parts = shown.split(/^ *…\n/m).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("(?:.*\\n)*?")}$`);
}
