/**
 * Absolute paths of a machine, moved below the folder that stands for it. Pure.
 *
 * In commands, only paths below the folders of the list are moved, and the folder is a variable of the shell, so that a folder with spaces works.
 * Scripts prefix their paths with ${LATTICE_ROOT:-} themselves: a path after `}` is not moved again.
 */
import { posix } from "node:path";

export const ROOT_VARIABLE = "LATTICE_ROOT";

const FOLDERS = /^\/(?:etc|run|var|tmp|usr\/local|opt)(?![\w.+-])/;
/** A path begins after these, or at the start of the text. */
const BEFORE_PATH = /[\s'"=<>:;,|&(@`{!]/;

/** For a path that was written for a machine; one below the folder stays. `..` cannot leave the folder. */
export function reRootPath(root: string, path: string): string {
  if (!path.startsWith("/") || path === root || path.startsWith(`${root}/`)) return path;
  return posix.join(root, posix.normalize(path));
}

/** The same for a path of one of the folders of the list; all others stay. */
export function reRootKnownPath(root: string, path: string): string {
  return FOLDERS.test(path) ? reRootPath(root, path) : path;
}

type Quote = "'" | '"' | undefined;

/** A line of a shell script. Quotes are followed, here-documents are not. */
export function reRootCommand(command: string): string {
  let text = "";
  let quote: Quote;
  for (let at = 0; at < command.length; at += 1) {
    const char = command.charAt(at);
    if (char === "\\" && quote !== "'") {
      text += command.slice(at, at + 2);
      at += 1;
      continue;
    }
    if (char === "'" || char === '"') quote = quote === undefined ? char : quote === char ? undefined : quote;
    if (char === "/" && isStartOfPath(command, at)) text += rootIn(quote);
    text += char;
  }
  return text;
}

function isStartOfPath(command: string, at: number): boolean {
  return (at === 0 || BEFORE_PATH.test(command.charAt(at - 1))) && FOLDERS.test(command.slice(at, at + 20));
}

function rootIn(quote: Quote): string {
  const variable = `\${${ROOT_VARIABLE}}`;
  if (quote === '"') return variable;
  return quote === "'" ? `'"${variable}"'` : `"${variable}"`;
}
