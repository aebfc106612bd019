/** The end of a command of the mover that has not succeeded. Refusals are answers; everything else means that the command has not ended. */
import type { MoveFailure } from "#pivot";
import type { CommandIo, ExitCode } from "../io.ts";

export function reportMoveFailure(
  io: CommandIo,
  { output }: { readonly output: "text" | "json" },
  { kind, message, reasons = [] }: MoveFailure,
): ExitCode {
  const isAnswer = kind === "refused" || kind === "held";
  if (output === "json") io.stdout(`${JSON.stringify({ error: kind, message, reasons })}\n`);
  const others = reasons.slice(1).map((reason) => `  ${reason}\n`);
  const hint = kind === "failed" || kind === "stopped" ? "; run the same command again to continue" : "";
  io.stderr(`lattice: ${message}${hint}\n${others.join("")}`);
  return isAnswer ? 1 : 2;
}
