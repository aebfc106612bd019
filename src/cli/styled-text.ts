/**
 * Text with colours. Colours are kept apart from the text until it is written: escape sequences in text from a resource are escaped, and
 * only the colours of the command reach the terminal.
 */
import type { CliIo } from "./io.ts";

export type Colour = "green" | "yellow" | "red";
export type StyledSpan = string | { readonly text: string; readonly colour: Colour };
export type StyledText = readonly StyledSpan[];

const CODES: Readonly<Record<Colour, number>> = { green: 32, yellow: 33, red: 31 };

/** Decided by FORCE_COLOR, then NO_COLOR and TERM=dumb, then whether it is a terminal. */
export function hasColour({ env, terminal }: Pick<CliIo, "env" | "terminal">): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = env;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "") return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return terminal !== undefined && (NO_COLOR ?? "") === "" && TERM !== "dumb";
}

export function renderText(text: StyledText, coloured: boolean): string {
  return text
    .map((span) => {
      if (typeof span === "string") return span;
      return coloured ? `\u001b[${CODES[span.colour]}m${span.text}\u001b[39m` : span.text;
    })
    .join("");
}

export function plainText(text: StyledText): string {
  return renderText(text, false);
}

export function colourOfPhase(phase: string): Colour | undefined {
  if (phase === "Ready") return "green";
  if (phase === "Failed") return "red";
  return phase === "" || phase === "deleted" ? undefined : "yellow";
}

export function coloured(text: string, colour: Colour | undefined): StyledSpan {
  return colour === undefined ? text : { text, colour };
}
