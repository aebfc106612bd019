import { expect, test } from "vitest";
import type { ApiRequest, ApiServer } from "#kube-server";
import { RESET_PATH, withResetPath } from "./reset-path.ts";

test("a server that authorizes nothing cannot be reset", async () => {
  let resets = 0;
  const server = { handle: () => Promise.reject(new Error("not asked")) } as unknown as ApiServer;
  const served = withResetPath(server, server, async () => void (resets += 1));
  const answer = await served.handle({ method: "POST", path: RESET_PATH } as ApiRequest, new AbortController().signal);
  expect({ status: answer.status, resets }).toEqual({ status: 403, resets: 0 });
});
