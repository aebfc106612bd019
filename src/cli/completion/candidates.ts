/**
 * The completion candidates of a command line: commands, flags, values of flags, names of services and namespaces.
 *
 * It runs at every Tab: a cluster that does not respond in time yields no names, and no error is printed.
 */
import { Option, type Command } from "commander";
import type { CliIo, ExitCode } from "../io.ts";
import { readClusters, readNames } from "./cluster-names.ts";

export type Candidate = { readonly text: string; readonly description?: string };
type Completion = { readonly candidates: readonly Candidate[]; readonly files: boolean };

const NOTHING: Completion = { candidates: [], files: false };

export async function complete(io: CliIo, program: Command, words: readonly string[]): Promise<ExitCode> {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  const { candidates, files } = await candidatesFor(io, program, { before, current });
  for (const { text, description } of candidates)
    if (text.startsWith(current)) io.stdout(description === undefined ? `${text}\n` : `${text}\t${oneLine(description)}\n`);
  io.stdout(files ? ":files\n" : ":none\n");
  return 0;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\s]+/g, " ");
}

type CommandLine = { readonly before: readonly string[]; readonly current: string };

async function candidatesFor(io: CliIo, program: Command, { before, current }: CommandLine): Promise<Completion> {
  const [name, ...rest] = before;
  if (name === undefined) return current.startsWith("-") ? flagsOf(program) : commandsOf(program);
  const command = program.commands.find((one) => one.name() === name);
  if (name === "help") return before.length === 1 ? commandsOf(program) : NOTHING;
  if (command === undefined) return NOTHING;
  const open = openFlag(command, rest);
  if (open !== undefined && (open.required || !current.startsWith("-"))) {
    if (!open.variadic || rest.at(-1)?.startsWith("-") === true || !isNameCommand(name)) return valuesOf(io, open, before);
  }
  return current.startsWith("-") ? flagsOf(command) : argumentsOf(io, command, before);
}

function commandsOf(program: Command): Completion {
  const shown = program.createHelp().visibleCommands(program);
  return { candidates: shown.map((command) => ({ text: command.name(), description: command.summary() })), files: false };
}

function flagsOf(command: Command): Completion {
  const options = command.createHelp().visibleOptions(command);
  const names = options.flatMap(({ long, short, description }) =>
    [long, short].flatMap((text) => (text === undefined ? [] : [{ text: text ?? "", description }])),
  );
  return { candidates: names, files: false };
}

/** The flag whose value is being completed: the last argument, or an earlier one if the flag takes several values. */
function openFlag(command: Command, words: readonly string[]): Option | undefined {
  const at = words.findLastIndex((word) => word.startsWith("-"));
  const word = words[at];
  const option = word === undefined ? undefined : command.options.find(({ long, short }) => word === long || word === short);
  if (option === undefined || (!option.required && !option.optional)) return undefined;
  return at === words.length - 1 || option.variadic ? option : undefined;
}

/** Flags whose value is not the name of a file or folder. */
const FREE: ReadonlySet<string> = new Set([
  "method",
  "path",
  "port",
  "image",
  "environment",
  "health-address",
  "pod-limit",
  "bind",
  "clusters",
]);

async function valuesOf(io: CliIo, option: Option, before: readonly string[]): Promise<Completion> {
  if (option.argChoices !== undefined) return { candidates: option.argChoices.map((text) => ({ text })), files: false };
  const name = option.name();
  if (name === "namespace" || name === "namespaces") return { candidates: await readNames(io, before, "namespaces"), files: false };
  const text = /<([^>]*)>/.exec(option.flags)?.[1] ?? "";
  return { candidates: [], files: !FREE.has(name) && /file|folder|path|dir/i.test(text) };
}

/** Commands whose arguments are names of services. */
function isNameCommand(name: string): boolean {
  return name === "why" || name === "status" || name === "detach";
}

async function argumentsOf(io: CliIo, command: Command, before: readonly string[]): Promise<Completion> {
  const name = command.name();
  if (isNameCommand(name)) return { candidates: await readNames(io, before, "services"), files: false };
  if (name === "stop" || name === "start") return { candidates: await readClusters(io, before), files: false };
  if (name === "crds") return { candidates: (await crdNames()).map((text) => ({ text })), files: false };
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  return { candidates: choices.map((text) => ({ text })), files: false };
}

async function crdNames(): Promise<readonly string[]> {
  const { latticeKinds } = await import("#crds");
  return latticeKinds.map(({ kind }) => kind);
}
