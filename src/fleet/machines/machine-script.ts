/**
 * The commands of a machine as one shell script, as cloud-init makes one: variables and the current folder last until its end. Pure.
 *
 * Other than with cloud-init, a command that fails ends the script.
 */
import type { CloudCommand } from "./cloud-config.ts";
import { reRootCommand } from "./re-root.ts";

/** `:` because a command may be empty, or only a comment. */
export function machineScript(commands: readonly CloudCommand[]): string {
  const steps = commands.map(
    (command) => `{ :\n${reRootCommand(typeof command === "string" ? command : shellLine(command))}\n} || exit $?\n`,
  );
  return steps.join("");
}

function shellLine(parts: readonly string[]): string {
  return parts.map(shellQuoted).join(" ");
}

export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
