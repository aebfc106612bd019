import { status } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import type { StreamCloseKind } from "../protocol/message-stream.ts";
import { closeOfStatus, statusOfClose } from "./close-codes.ts";

describe("close codes", () => {
  it.each<StreamCloseKind>(["refused", "stale", "invalid", "busy", "late", "gone"])("keep kind and reason: %s", (kind) => {
    expect(closeOfStatus(statusOfClose({ kind, reason: "a sentence" }))).toEqual({ kind, reason: "a sentence" });
  });

  const foreign = [
    { name: "a status without a text", given: { code: status.UNKNOWN, details: "" }, want: "the peer ended the stream" },
    { name: "an ordinary end", given: { code: status.OK, details: "OK" }, want: "the peer ended the stream" },
    {
      name: "a failed connection",
      given: { code: status.UNAVAILABLE, details: "No connection established. Last error: connect ECONNREFUSED. Resolution note: " },
      want: "No connection established. Last error: connect ECONNREFUSED",
    },
  ];
  it.each(foreign)("make a reason of $name", ({ given, want }) => expect(closeOfStatus(given)).toEqual({ kind: "gone", reason: want }));
});
