/**
 * What every command registration shares: its group in `lattice --help`, its description, and examples.
 *
 * Each file in this folder declares the flags of one command and imports its code only when the command runs.
 */
import type { Command } from "commander";
import type { CommandExitCode, CommandIo } from "../io.ts";

/** The arguments of a command registration: input and output, and `done` to report the exit code. */
export type CommandContext = { readonly io: CommandIo; readonly done: (code: CommandExitCode) => void };

export type RegisterCommand = (program: Command, context: CommandContext) => void;

export type Example = {
  /** As typed in the folder of a clone: `lattice graph -f examples/shop`. */
  readonly command: string;
  /** A short description of its effect. */
  readonly effect: string;
};

export type CommandText = {
  readonly group: CommandGroup;
  /** One line in `lattice --help`. */
  readonly summary: string;
  /** The longer text for `--help` of the command; by default the summary. */
  readonly description?: string;
  readonly examples: readonly Example[];
};

export const GROUPS = {
  services: "Services, from files or from a cluster:",
  local: "On this machine:",
  operator: "In a cluster:",
  other: "Other:",
} as const;

export type CommandGroup = keyof typeof GROUPS;

/** Adds a command with its texts; the caller adds flags and an action. */
export function addCommand(program: Command, name: string, text: CommandText): Command {
  const { group, summary, description = summary, examples } = text;
  const command = program.command(name).helpGroup(GROUPS[group]).summary(summary).description(sentence(description));
  return command.addHelpText("after", formatExamples(examples));
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function formatExamples(examples: readonly Example[]): string {
  const lines = examples.map(({ command, effect }) => `  # ${effect}\n  ${command}\n`);
  return `\nExamples:\n${lines.join("\n")}`;
}
