/** Commands that a document shows, taken out of its fenced blocks and run as they are written. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCli } from "./cli-io.ts";

export type Step = {
  readonly command: string;
  /** What the document says about it, after a `#`. */
  readonly remark: string;
  readonly shown: string;
};

/** `$ command` and what is shown below it. */
export function consoleSteps(document: string): readonly Step[] {
  return blocksOf(document, "console").flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => ({ ...commandIn(part.slice(0, part.indexOf("\n"))), shown: part.slice(part.indexOf("\n") + 1) })),
  );
}

/** Lines of `sh` blocks, which show no output. */
export function shellSteps(document: string): readonly Step[] {
  const lines = blocksOf(document, "sh").flatMap((block) => block.split("\n").filter((line) => line.trim() !== ""));
  return lines.map((line) => ({ ...commandIn(line), shown: "" }));
}

export function yamlBlocks(document: string): readonly string[] {
  return blocksOf(document, "yaml");
}

function blocksOf(document: string, language: string): readonly string[] {
  return [...document.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"))].map(([, block = ""]) => block);
}

function commandIn(line: string): Pick<Step, "command" | "remark"> {
  const [, command = "", remark = ""] = /^(.*?)(?:\s+# (.*))?$/.exec(line) ?? [];
  return { command: command.trim(), remark };
}

export type StepRun = { readonly code: number; readonly screen: string; readonly stdout: string; readonly stderr: string };

/** `./lattice` in this process, with `> file`; what comes after a pipe is another program's. Everything else by a shell. */
export async function runStep(command: string, cwd: string): Promise<StepRun> {
  const [program = "", ...words] = (command.split(" | ")[0] ?? "").split(" ");
  if (program !== "./lattice") {
    const screen = execFileSync("sh", ["-c", command], { cwd, encoding: "utf8" });
    return { code: 0, screen, stdout: screen, stderr: "" };
  }
  const at = words.indexOf(">");
  const file = at < 0 ? undefined : words[at + 1];
  let [screen, out, err] = ["", "", ""];
  const stdout = (text: string) => {
    out += text;
    if (file === undefined) screen += text;
  };
  const stderr = (text: string) => {
    err += text;
    screen += text;
  };
  const { code } = await runCli(at < 0 ? words : words.slice(0, at), { cwd, stdout, stderr });
  if (file !== undefined) writeFileSync(join(cwd, file), out);
  return { code, screen, stdout: out, stderr: err };
}

/** The parts that are shown, in order, with anything where lines were left out. */
export function shownPattern(shown: string): RegExp {
  const parts = shown.split(/^ *…\n/m).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("(?:.*\\n)*?")}$`);
}
