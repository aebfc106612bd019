/** Checks of fields that came from the peer. Errors name the field as agent.proto does. */
import { err, mapErr, ok, textOfBytes, type Result } from "#base";
import { LINK_LIMITS } from "./link-limits.ts";

export type FieldCheck = { readonly field: string; readonly fault: string | undefined };

/** The first fault as a sentence. */
export function firstFault(checks: readonly FieldCheck[]): Result<void, string> {
  const failed = checks.find(({ fault }) => fault !== undefined);
  return failed?.fault === undefined ? ok(undefined) : err(`${failed.field}: ${failed.fault}`);
}

export function textCheck(field: string, text: string): FieldCheck {
  const fault = text.length > LINK_LIMITS.textLength ? `must have at most ${LINK_LIMITS.textLength} characters` : undefined;
  return { field, fault };
}

/** A text that identifies something. */
export function idCheck(field: string, text: string): FieldCheck {
  return text === "" ? { field, fault: "must not be empty" } : textCheck(field, text);
}

export function listCheck(field: string, texts: readonly string[], most: number): FieldCheck {
  if (texts.length > most) return { field, fault: `must have at most ${most} items` };
  return { field, fault: texts.map((text) => textCheck(field, text).fault).find((fault) => fault !== undefined) };
}

/** Numbers of nodes and replicas; protobuf's int32 can be negative. */
export function countCheck(field: string, value: number): FieldCheck {
  return { field, fault: value < 0 ? "must not be negative" : undefined };
}

/** PEM as text. Empty bytes are an empty text: the caller decides whether that is allowed. */
export function pemText(field: string, bytes: Uint8Array): Result<string, string> {
  if (bytes.byteLength > LINK_LIMITS.pemBytes) return err(`${field}: must have at most ${LINK_LIMITS.pemBytes} bytes`);
  return mapErr(textOfBytes(bytes), (fault) => `${field}: ${fault}`);
}
