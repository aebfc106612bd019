/**
 * Commands in documents: each command of `lattice` exists and has the flags that are shown, and each npm script is one of package.json.
 * Other programs are not checked here; test/stories runs the guides' commands that need no cluster.
 */
import { systemClock } from "#base";
import { createProgram, visibleIo, type CliIo } from "#cli";
import type { DocBlock } from "./blocks.ts";
import type { BlockProblem } from "./check-blocks.ts";

/** Commands of npm itself that documents show; `npm start` and `npm test` are scripts. */
const NPM_COMMANDS = new Set(["ci", "init", "install", "pack", "view"]);
const EVERYWHERE = new Set(["-h", "--help", "--fips"]);

export function shellProblems(block: DocBlock, scripts: ReadonlySet<string>): readonly BlockProblem[] {
  return commandLines(block).flatMap(({ line, text }) =>
    simpleCommands(text).flatMap((words) => commandProblems(words, scripts).map((message) => ({ line, message }))),
  );
}

/** In `console` a command begins with `$ `, in `sh` every line is one; both may end a line with a backslash. */
function commandLines({ language, text }: DocBlock): readonly { readonly line: number; readonly text: string }[] {
  const lines = text.split("\n");
  return lines.flatMap((first, line) => {
    const isContinued = lines[line - 1]?.endsWith("\\") ?? false;
    if (isContinued || (language === "console" && !first.startsWith("$ "))) return [];
    let whole = language === "console" ? first.slice(2) : first;
    for (let next = line + 1; whole.endsWith("\\") && next < lines.length; next += 1) whole = `${whole.slice(0, -1)} ${lines[next] ?? ""}`;
    return [{ line, text: whole }];
  });
}

/** The arguments of each command of a pipeline or list; quoted text is one argument, which is not checked. */
function simpleCommands(line: string): readonly (readonly string[])[] {
  const plain = line
    .replace(/'[^']*'|"[^"]*"/g, "QUOTED")
    .replace(/(^|\s)#.*$/, "")
    .replace(/[<>]\(([^)]*)\)/g, "; $1 ;");
  return plain.split(/\|\||&&|[|;&]/).map((command) => {
    const words = command.trim().split(/\s+/);
    const program = words.findIndex((word) => !/^[A-Z_]+=/.test(word) && word !== "npx");
    return words.slice(Math.max(program, 0));
  });
}

function commandProblems([program, ...args]: readonly string[], scripts: ReadonlySet<string>): readonly string[] {
  if (program === "npm") return npmProblems(args, scripts);
  return program === "lattice" || program === "./lattice" ? latticeProblems(args) : [];
}

function npmProblems([command = "", script = ""]: readonly string[], scripts: ReadonlySet<string>): readonly string[] {
  if (command === "run" || command === "start" || command === "test") {
    const name = command === "run" ? script : command;
    return scripts.has(name) ? [] : [`package.json has no script "${name}"`];
  }
  return NPM_COMMANDS.has(command) ? [] : [`"npm ${command}" is not a known command`];
}

function latticeProblems(args: readonly string[]): readonly string[] {
  const [name = "", ...rest] = args;
  if (EVERYWHERE.has(name)) return [];
  const command = program().commands.find((candidate) => candidate.name() === name);
  if (command === undefined) return [`lattice has no command "${name}"`];
  const known = new Set(command.options.flatMap(({ long, short }) => [long ?? "", short ?? ""]));
  const end = rest.indexOf("--");
  const flags = rest.slice(0, end < 0 ? undefined : end).flatMap((word) => /^--?[a-zA-Z][\w-]*/.exec(word)?.[0] ?? []);
  const unknown = flags.filter((flag) => !known.has(flag) && !EVERYWHERE.has(flag));
  return unknown.map((flag) => `lattice ${name} has no flag ${flag}`);
}

let parser: ReturnType<typeof createProgram> | undefined;

/** Only the declarations of the parser are read. No command runs, so `io` is not used. */
function program(): ReturnType<typeof createProgram> {
  const io: CliIo = {
    env: {},
    home: "/",
    cwd: "/",
    root: "/",
    program: { node: process.execPath, args: [] },
    stdout: () => undefined,
    stderr: () => undefined,
    stdin: () => Promise.resolve(""),
    nodeVersion: process.versions.node,
    fipsActive: () => false,
    clock: systemClock,
    random: Math.random,
    hostname: "docs",
    signal: AbortSignal.abort(),
  };
  parser ??= createProgram({ io: visibleIo(io), done: () => undefined });
  return parser;
}
