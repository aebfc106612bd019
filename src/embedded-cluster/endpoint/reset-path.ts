/** `POST /lattice/reset`: restores the initial state of the cluster. RBAC authorizes it: by default, administrators only. */
import { describeThrown, fromPromise, map } from "#base";
import type { ApiRequest, ApiResponse, ApiServer } from "#kube-server";

export const RESET_PATH = "/lattice/reset";

/** `guarded` authorizes resets, which are not logged; `server` handles all other requests. */
export function withResetPath(server: ApiServer, guarded: ApiServer, reset: () => Promise<void>): ApiServer {
  const authorizeReset: ApiServer["authorize"] = (request) => map(guarded.authorize(request), () => () => answerReset(reset));
  return {
    ...server,
    authorize: (request) => (isReset(request) ? authorizeReset(request) : server.authorize(request)),
    handle(request, signal) {
      if (!isReset(request)) return server.handle(request, signal);
      const authorized = authorizeReset(request);
      return authorized.ok ? authorized.value(undefined, signal) : authorized.error;
    },
  };
}

function isReset({ method, path }: ApiRequest): boolean {
  return method === "POST" && path === RESET_PATH;
}

async function answerReset(reset: () => Promise<void>): Promise<ApiResponse> {
  const done = await fromPromise(reset(), describeThrown);
  return done.ok ? statusAnswer(200, "Success", "the cluster is in its initial state") : statusAnswer(500, "Failure", done.error);
}

function statusAnswer(code: number, status: "Success" | "Failure", message: string): ApiResponse {
  const value = { kind: "Status", apiVersion: "v1", metadata: {}, status, message, code };
  return { status: code, headers: { "content-type": "application/json" }, warnings: [], body: { kind: "json", value, pretty: false } };
}
