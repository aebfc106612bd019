/** The report of a node about a failed step. Its text goes into logs, events and conditions, so it is cut to printable characters without secrets. */
import { err, ok, reveal, textOfBytes, type Result, type Sensitive } from "#base";
import { safeText } from "#controller-runtime";
import { isJsonObject, parseJson } from "#kube";
import type { BootstrapReport } from "./cluster-access.ts";

const LIMITS = new Map([
  ["step", 64],
  ["message", 1_024],
  ["node", 253],
]);

/** `token`: the one that the node sent. Output of a failed command may contain it. */
export function parseReport(body: Uint8Array, token: Sensitive<string>): Result<Omit<BootstrapReport, "at">, string> {
  const text = textOfBytes(body);
  const json = text.ok ? parseJson(text.value) : text;
  if (!json.ok || !isJsonObject(json.value)) return err("the body must be a JSON object with step, message and node");
  const unknown = Object.keys(json.value).find((name) => !LIMITS.has(name));
  if (unknown !== undefined) return err("the body must have only step, message and node");
  const fields = new Map<string, string>();
  for (const [name, limit] of LIMITS) {
    const value = Object.hasOwn(json.value, name) ? json.value[name] : undefined;
    if (typeof value !== "string" || Buffer.byteLength(value) > limit) return err(`${name}: must be a text of at most ${limit} bytes`);
    fields.set(name, printable(value, token, limit));
  }
  const { step = "", message = "", node = "" } = Object.fromEntries(fields);
  return step === "" ? err("step: must not be empty") : ok({ step, message, node });
}

function printable(text: string, token: Sensitive<string>, limit: number): string {
  const whole = reveal(token);
  const secret = whole.slice(whole.indexOf(".") + 1);
  const hidden = text.replaceAll(whole, "[redacted]").replaceAll(secret, "[redacted]");
  // control characters would forge lines in a log, and directions of text would hide parts of one
  return safeText(hidden.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim(), limit);
}
