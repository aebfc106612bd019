/** The body of a renewal request, and its parsing on the side of the cell. Sizes are checked before anything is decoded. */
import { err, ok, type Result } from "#base";
import { CSR_LIMITS } from "./read-csr.ts";

export type AgentRenewalRequest = {
  /** The old certificate as PEM. */
  readonly certificate: string;
  /** The new CSR as PEM. */
  readonly csr: string;
  /** Milliseconds since 1970 by the clock of the agent. */
  readonly time: number;
  /** ECDSA in DER, as base64. */
  readonly signature: string;
};

const MAX_SIGNATURE = 256;

/** @param value parsed JSON */
export function parseRenewalRequest(value: unknown): Result<AgentRenewalRequest, string> {
  if (typeof value !== "object" || value === null) return err("the renewal request must be a JSON object");
  const { certificate, csr, time, signature } = value as Readonly<Record<string, unknown>>;
  if (!isText(certificate, CSR_LIMITS.maxBytes)) return err(`certificate: must be text of at most ${CSR_LIMITS.maxBytes} characters`);
  if (!isText(csr, CSR_LIMITS.maxBytes)) return err(`csr: must be text of at most ${CSR_LIMITS.maxBytes} characters`);
  if (typeof time !== "number" || !Number.isSafeInteger(time)) return err("time: must be milliseconds since 1970");
  if (!isText(signature, MAX_SIGNATURE)) return err(`signature: must be text of at most ${MAX_SIGNATURE} characters`);
  return ok({ certificate, csr, time, signature });
}

function isText(value: unknown, limit: number): value is string {
  return typeof value === "string" && value.length <= limit;
}
