/** OpenID discovery and the public keys, with which other programs can verify tokens of this server. */
import { header, textResponse, type ApiRequest, type ApiResponse } from "../../protocol/request.ts";
import { failureResponse } from "../../protocol/respond.ts";
import { methodNotAllowed, refuse, unknownResource } from "../../protocol/status.ts";
import { parseAccept } from "../../protocol/media-types.ts";
import { ISSUER } from "./account-tokens.ts";
import type { AccountTokens } from "../../protocol/auth-port.ts";

const CONFIGURATION = "/.well-known/openid-configuration";
const KEYS = "/openid/v1/jwks";
const KEY_SET = "application/jwk-set+json";

export type OpenIdOptions = { readonly accounts: AccountTokens; readonly address: () => string };

/** `undefined`: another path. */
export function answerOpenId(request: ApiRequest, { accounts, address }: OpenIdOptions): ApiResponse | undefined {
  const path = request.path.endsWith("/") && request.path.length > 1 ? request.path.slice(0, -1) : request.path;
  if (path === CONFIGURATION) return answered(request, "application/json", () => configuration(address()));
  if (path === KEYS) return answered(request, KEY_SET, () => ({ keys: accounts.publicKeys() }));
  if (path.startsWith(`${KEYS}/`) || path.startsWith(`${CONFIGURATION}/`)) return failureResponse(request, unknownResource().error);
  return path.startsWith("/openid") || path.startsWith("/.well-known") ? textResponse(404, "404 page not found\n") : undefined;
}

function configuration(address: string): object {
  return {
    issuer: ISSUER,
    jwks_uri: `https://${address}${KEYS}`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
  };
}

function answered(request: ApiRequest, type: string, value: () => object): ApiResponse {
  if (request.method !== "GET" && request.method !== "HEAD") return failureResponse(request, methodNotAllowed().error);
  if (!accepts(header(request, "accept"), type)) {
    const message = `406: Not Acceptable\n\nAvailable representations: ${type}`;
    return failureResponse(request, refuse({ code: 406, reason: "NotAcceptable", message, details: {} }).error);
  }
  const headers = { "content-type": type, "cache-control": "public, max-age=3600" };
  return { status: 200, headers, warnings: [], body: { kind: "text", text: JSON.stringify(value()) } };
}

function accepts(accept: string, type: string): boolean {
  return accept.trim() === "" || parseAccept(accept).some((clause) => [type, "*/*", "application/*"].includes(clause.type));
}
