/** client-go's error for an HTTP response that is no success: from the status code, unless the body is a Status with a message. */
import { field, isJsonObject, parseJson } from "#kube";
import type { WebhookResponse } from "./exchange.ts";

const MAX_SHOWN_BYTES = 2_048;

const BY_STATUS: ReadonlyMap<number, string> = new Map([
  [400, "the server rejected our request for an unknown reason"],
  [401, "the server has asked for the client to provide credentials"],
  [404, "the server could not find the requested resource"],
  [405, "the server does not allow this method on the requested resource"],
  [409, "the server reported a conflict"],
  [422, "the server rejected our request due to an error in our request"],
  [429, "the server has received too many requests and has asked us to try again later"],
  [503, "the server is currently unable to handle the request"],
  [504, "the server was unable to return a response in the time allotted, but may still be processing the request"],
]);

/** Status codes whose error contains the text of the response. */
const SHOWN: ReadonlySet<number> = new Set([403, 406, 415]);

/** Undefined: a success with a body. */
export function responseError(response: WebhookResponse): string | undefined {
  const { status, body } = response;
  if (mediaTypeOf(response) === undefined) return "Internal error occurred: mime: no media type";
  if (status < 200 || status > 206) return statusMessage(response) ?? genericMessage(response);
  return body.length === 0
    ? `0-length response with status code: ${status} and content type: ${response.contentType === "" ? "application/json" : response.contentType}`
    : undefined;
}

/** A response without a content type is read as JSON. */
function mediaTypeOf({ contentType }: WebhookResponse): string | undefined {
  if (contentType === "") return "application/json";
  const type = (contentType.split(";")[0] ?? "").trim().toLowerCase();
  return type === "" ? undefined : type;
}

function statusMessage({ body }: WebhookResponse): string | undefined {
  const parsed = parseJson(body.toString("utf8"));
  const status = parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
  const message = field(status, "message") ?? "";
  // old servers left out the version
  const isStatus = field(status, "kind") === "Status" && (field(status, "apiVersion") ?? "v1") === "v1";
  return isStatus && field(status, "status") !== "Success" && typeof message === "string" ? message : undefined;
}

function genericMessage(response: WebhookResponse): string {
  const { status } = response;
  const shown = shownText(response);
  if (SHOWN.has(status)) return shown;
  const known = BY_STATUS.get(status);
  if (known !== undefined) return known;
  if (status >= 500) return `an error on the server (${JSON.stringify(shown)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${status} but did not return more information`;
}

function shownText(response: WebhookResponse): string {
  const isText = response.contentType === "" || mediaTypeOf(response)?.startsWith("text/") === true;
  return isText ? response.body.subarray(0, MAX_SHOWN_BYTES).toString("utf8").trim() : "unknown";
}
