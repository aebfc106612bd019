/**
 * Escapes control characters in text from files and clusters before it reaches a terminal: a resource must not be able to colour, move or
 * hide text.
 */
import type { CliIo, CommandIo } from "./io.ts";
import { hasColour, renderText, type StyledSpan } from "./styled-text.ts";

/** YAML and JSON output never contains these unescaped, so output for programs is unchanged. */
// oxlint-disable-next-line no-control-regex -- the characters to escape
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u0084\u0086-\u009f]/g;
/** These change the direction of the following text; escaped on stderr only, which is not for programs. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;

function writtenOut(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

export function visibleIo(io: CliIo): CommandIo {
  const visible = (text: string) => text.replace(CONTROLS, writtenOut);
  const visibleSpan = (span: StyledSpan): StyledSpan => (typeof span === "string" ? visible(span) : { ...span, text: visible(span.text) });
  const shown = (text: string) => visible(text).replace(DIRECTIONS, writtenOut);
  return {
    ...io,
    stdout: (text) => io.stdout(visible(text)),
    stderr: (text) => io.stderr(shown(text)),
    redraw: (line) => io.stderr(`\r${shown(line)}\u001b[K`),
    print: (text) => io.stdout(renderText(text.map(visibleSpan), hasColour(io))),
  };
}
