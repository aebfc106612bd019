/**
 * Text for events and conditions: what looks like a secret is removed, and the rest is truncated.
 *
 * The second protection. The first is that no code puts a secret into a message; this one is for errors of other programs that quote
 * their input.
 */
const CUT = "[redacted]";

/** Bounded repetitions only: a hostile message must not cost more than its length. */
const SECRETS: readonly { readonly pattern: RegExp; readonly put: string }[] = [
  { pattern: /-----BEGIN [A-Z ]{1,40}-----[\s\S]*?(-----END [A-Z ]{1,40}-----|$)/g, put: CUT },
  { pattern: /\b(bearer|basic)\s+[A-Za-z0-9+/_.=~-]{8,}/gi, put: `$1 ${CUT}` },
  { pattern: /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, put: CUT },
  { pattern: /(:\/\/[^\s/:@]{1,256}):[^\s/@]{1,256}@/g, put: `$1:${CUT}@` },
  {
    // "variable 'TOKEN': …" is how compile errors name a variable; the rest is an explanation, and never its value
    pattern:
      /(?<!\bvariable ')\b(password|passwd|secret|token|api[_-]?key|private[_-]?key|client[_-]?key)(["']?\s{0,3}[=:]\s{0,3}["']?)[^\s"',;&]{1,1024}/gi,
    put: `$1$2${CUT}`,
  },
];

/** The API's limit of an event's note. */
export const MAX_TEXT_BYTES = 1_024;
/** Truncated before the search: a longer text is not read, and the search costs time. */
const MAX_SEARCHED = 16_384;

export function safeText(text: string, maxBytes = MAX_TEXT_BYTES): string {
  const cleaned = SECRETS.reduce((rest, { pattern, put }) => rest.replaceAll(pattern, put), text.slice(0, MAX_SEARCHED));
  return cutToBytes(cleaned, maxBytes);
}

function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const ellipsis = "…";
  const kept = Buffer.from(text).subarray(0, maxBytes - Buffer.byteLength(ellipsis));
  // a character cut in half decodes to U+FFFD at the end
  return `${new TextDecoder().decode(kept).replace(/\uFFFD+$/, "")}${ellipsis}`;
}
