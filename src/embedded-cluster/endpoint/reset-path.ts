/** `POST /lattice/reset`: puts the cluster back into its initial state. RBAC decides who may: by default, administrators only. */
import { describeThrown, err, fromPromise } from "#base";
import type { ApiRequest, ApiResponse, ApiServer } from "#kube-server";

export const RESET_PATH = "/lattice/reset";

/** `guarded` authorizes; `server` answers everything else. */
export function withResetPath(server: ApiServer, guarded: ApiServer, reset: () => Promise<void>): ApiServer {
  return {
    ...server,
    handle: (request, signal) =>
      request.path === RESET_PATH && request.method === "POST" ? answerReset(request, guarded, reset) : server.handle(request, signal),
  };
}

async function answerReset(request: ApiRequest, guarded: ApiServer, reset: () => Promise<void>): Promise<ApiResponse> {
  const authorized =
    guarded.letIn?.(request) ?? err(statusAnswer(403, "Failure", "this server does not authorize requests, so it cannot be reset"));
  if (!authorized.ok) return authorized.error;
  const done = await fromPromise(reset(), describeThrown);
  return done.ok ? statusAnswer(200, "Success", "the cluster is in its initial state") : statusAnswer(500, "Failure", done.error);
}

function statusAnswer(code: number, status: "Success" | "Failure", message: string): ApiResponse {
  const value = { kind: "Status", apiVersion: "v1", metadata: {}, status, message, code };
  return { status: code, headers: { "content-type": "application/json" }, warnings: [], body: { kind: "json", value, pretty: false } };
}
