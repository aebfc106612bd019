import { expect, test } from "vitest";
import { err, ok } from "#base";
import type { ApiRequest, ApiResponse, ApiServer } from "#kube-server";
import { RESET_PATH, withResetPath } from "./reset-path.ts";

const FORBIDDEN: ApiResponse = { status: 403, headers: {}, warnings: [], body: { kind: "none" } };
const request = { method: "POST", path: RESET_PATH } as ApiRequest;
const { signal } = new AbortController();

/** A server that authorizes everything or nothing. */
function resettable(allowed: boolean) {
  const resets: string[] = [];
  const unused = () => Promise.reject(new Error("not a reset"));
  const guarded = { handle: unused, authorize: () => (allowed ? ok(unused) : err(FORBIDDEN)) } as unknown as ApiServer;
  return { resets, served: withResetPath(guarded, guarded, async () => void resets.push("reset")) };
}

test("a caller without permission gets 403, and nothing is reset", async () => {
  const { resets, served } = resettable(false);
  expect(await served.handle(request, signal)).toBe(FORBIDDEN);
  expect(served.authorize(request)).toEqual(err(FORBIDDEN));
  expect(resets).toEqual([]);
});

test("an authorized reset is done once its body was read", async () => {
  const { resets, served } = resettable(true);
  const authorized = served.authorize(request);
  expect(resets).toEqual([]);
  expect(authorized.ok && (await authorized.value(undefined, signal)).status).toBe(200);
  expect((await served.handle(request, signal)).status).toBe(200);
  expect(resets).toHaveLength(2);
});
