/**
 * Impersonation and authorization of a request. It runs before the body is read and before the resource is looked up, so that a
 * client without permission does not learn whether the resource exists.
 */
import { err, ok, type Result } from "#base";
import type { ApiRequest, ApiResponse } from "../protocol/request.ts";
import type { RequestInfo } from "../protocol/request-info.ts";
import { failureResponse } from "../protocol/respond.ts";
import type { Failure } from "../protocol/status.ts";
import { forbiddenAccess } from "./forbidden.ts";
import { impersonation } from "./impersonation.ts";
import type { Authorizer } from "../protocol/auth-port.ts";
import { accessOf } from "./request-access.ts";

/** The request with the effective user, or the error response. */
export type Gate = (request: ApiRequest, info: RequestInfo) => Result<ApiRequest, ApiResponse>;

/** `openToAll`: no authorizer was configured, so a request without impersonation is allowed. */
export function createGate(authorize: Authorizer, openToAll = false): Gate {
  const impersonate = impersonation(authorize);
  return (request, info) => {
    if (openToAll && !isImpersonation(request)) return ok(request);
    const access = accessOf(info);
    const user = impersonate(request, access);
    if (!user.ok) return err(answerRefusal(request, user.error));
    const { allowed, reason } = authorize(user.value, access);
    if (!allowed) return err(answerRefusal(request, forbiddenAccess(user.value, access, reason).error));
    return ok(user.value === request.user ? request : { ...request, user: user.value });
  };
}

function isImpersonation({ headers }: ApiRequest): boolean {
  for (const name in headers) if (name.startsWith("impersonate-")) return true;
  return false;
}

function answerRefusal(request: ApiRequest, failure: Failure): ApiResponse {
  const answered = failureResponse(request, failure);
  return { ...answered, headers: { ...answered.headers, "x-content-type-options": "nosniff" } };
}
