/** `Warning` headers of an API server. Each text is logged once: a controller that applies the same object every minute would repeat it. */
import type { Logger } from "#base";

const REMEMBERED = 1_000;
/** `299 - "text"`, several joined by commas; in quotes a backslash escapes. No nesting: linear time. */
const WARNING = /\b299 [^\s"]+ "((?:[^"\\]|\\.)*)"/g;

function parseWarnings(header: string): string[] {
  return [...header.matchAll(WARNING)].map(([, text = ""]) => text.replaceAll(/\\(.)/g, "$1"));
}

export type WarningSink = (header: string | undefined) => void;

export function logWarningsOnce(logger: Logger): WarningSink {
  const warn = warnOnce(logger);
  return (header) => {
    if (header !== undefined) for (const warning of parseWarnings(header)) warn(warning);
  };
}

/** The same for a server in this process, which returns warnings without a header. */
export function warnOnce(logger: Logger): (warning: string) => void {
  const seen = new Set<string>();
  return (warning) => {
    if (seen.has(warning)) return;
    if (seen.size >= REMEMBERED) seen.clear();
    seen.add(warning);
    logger.warn("warning of the API server", { warning });
  };
}
