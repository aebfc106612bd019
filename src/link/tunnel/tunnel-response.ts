/**
 * Reads the response of an agent.
 *
 * It comes from a child, which a cell trusts less than itself: the head is checked like that of a client, and a body that does not fit its
 * declared length is an error, because the rest could be read as another response on the client's connection.
 */
import { err, ok, type Result } from "#base";
import type { HttpResponseHead } from "../protocol/generated/agent_pb.ts";
import { BodyLength } from "./body-length.ts";
import { failureText, headersOf, type FrameContent, type FrameReader } from "./frames.ts";
import { contentLength, parseTunnelHeaders, responseHeadersFor, upgradeProtocol, type TunnelHeader } from "./tunnel-headers.ts";
import { TUNNEL_LIMITS } from "./tunnel-limits.ts";
import type { TunnelSender } from "./tunnel-sender.ts";

export type TunnelResponseHead = {
  readonly status: number;
  readonly headers: readonly TunnelHeader[];
  readonly upgrade: string | undefined;
  /** Of the body that follows; undefined: any. */
  readonly bodyLength: number | undefined;
};

type Expected = { readonly method: string; readonly upgrade: string | undefined };

const CLOSED = "The agent closed the tunnel before the end of the response.";

/** The error is a sentence. */
export async function readResponseHead(reader: FrameReader, expected: Expected): Promise<Result<TunnelResponseHead, string>> {
  const frame = await reader.next();
  if (frame === undefined) return err(CLOSED);
  if (frame.case === "failure") return err(failureText(frame.value.message));
  if (frame.case !== "responseHead") return err("The agent sent an unexpected frame.");
  const parsed = parseResponseHead(frame.value, expected);
  return parsed.ok ? parsed : err(`The response of the agent was refused: ${parsed.error}.`);
}

function parseResponseHead(head: HttpResponseHead, { method, upgrade }: Expected): Result<TunnelResponseHead, string> {
  const { status } = head;
  const parsed = parseTunnelHeaders(headersOf(head));
  if (!parsed.ok) return parsed;
  const headers = responseHeadersFor(parsed.value);
  if (status === 101) {
    const isExpected = upgrade !== undefined && upgradeProtocol(parsed.value) === upgrade;
    return isExpected ? ok({ status, headers, upgrade, bodyLength: undefined }) : err("it changes the protocol without a request");
  }
  if (status < 200 || status > 599) return err("its status is invalid");
  const length = contentLength(headers);
  if (!length.ok) return length;
  const isEmpty = method === "HEAD" || status === 204 || status === 304;
  return ok({ status, headers, upgrade: undefined, bodyLength: isEmpty ? 0 : length.value });
}

/** Ends the tunnel when it is left, also before its end. */
export async function* responseBody(
  reader: FrameReader,
  { bodyLength }: TunnelResponseHead,
  sender: TunnelSender,
): AsyncGenerator<Result<Uint8Array, string>> {
  const length = new BodyLength(bodyLength);
  try {
    for (;;) {
      const frame = await reader.next();
      if (frame?.case === "end" && length.isComplete()) return sender.end();
      const bytes = bytesOf(frame, length);
      yield bytes;
      if (!bytes.ok) return;
    }
  } finally {
    sender.cancel("the response was not read to its end");
  }
}

function bytesOf(frame: FrameContent | undefined, length: BodyLength): Result<Uint8Array, string> {
  switch (frame?.case) {
    case undefined:
      return err(CLOSED);
    case "failure":
      return err(failureText(frame.value.message));
    case "end":
      return err("The response is shorter than its declared length.");
    case "data":
      if (frame.value.byteLength > TUNNEL_LIMITS.frameBytes) return err("The agent sent a frame that is too large.");
      return length.add(frame.value.byteLength) ? ok(frame.value) : err("The response is longer than its declared length.");
    default:
      return err("The agent sent an unexpected frame.");
  }
}
