/**
 * Text from files and clusters ends up in terminals. Characters that a terminal acts on instead of showing are written out: a resource must
 * not be able to colour, move or hide what is said about it.
 */
import type { CliIo, CommandIo } from "./io.ts";
import { hasColour, renderText, type Span } from "./styled-text.ts";

/** YAML and JSON never hold these as they are, so what a command prints for machines stays as it is, to the byte. */
// oxlint-disable-next-line no-control-regex -- they are what this is about
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u0084\u0086-\u009f]/g;
/** These turn the direction of what follows; only people read stderr. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;

function writtenOut(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

export function visibleIo(io: CliIo): CommandIo {
  const visible = (text: string) => text.replace(CONTROLS, writtenOut);
  const visibleSpan = (span: Span): Span => (typeof span === "string" ? visible(span) : { ...span, text: visible(span.text) });
  return {
    ...io,
    stdout: (text) => io.stdout(visible(text)),
    stderr: (text) => io.stderr(visible(text).replace(DIRECTIONS, writtenOut)),
    print: (text) => io.stdout(renderText(text.map(visibleSpan), hasColour(io))),
  };
}
