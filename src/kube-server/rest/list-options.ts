/** Options of a list or watch in the query string, validated as on a real server. Selectors are parsed here and evaluated elsewhere. */
import { ok, type Result } from "#base";
import type { Requirement } from "#kube";
import type { FieldCause, ResourceType } from "../resource-type.ts";
import { parseFieldSelector, type FieldTerm } from "../protocol/field-selector.ts";
import { parseLabelSelector } from "./label-selector.ts";
import type { ApiRequest } from "../protocol/request.ts";
import { isTrue } from "../protocol/request-info.ts";
import { badRequest, invalid, type Failure } from "../protocol/status.ts";

export type ListOptions = {
  readonly labels: readonly Requirement[];
  readonly fields: readonly FieldTerm[];
  /** 0: no limit. */
  readonly limit: number;
  readonly continue: string;
  /** As given; "" if absent. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: "" | "Exact" | "NotOlderThan";
  readonly timeoutSeconds: number | undefined;
  readonly bookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
};

const MATCHES: ReadonlySet<string> = new Set(["", "Exact", "NotOlderThan"]);

export function listOptions(request: ApiRequest, type: ResourceType, watching: boolean): Result<ListOptions, Failure> {
  const { query } = request;
  const limit = integer(query, "limit");
  const timeout = integer(query, "timeoutSeconds");
  if (!limit.ok) return limit;
  if (!timeout.ok) return timeout;
  const causes = watching ? watchCauses(query) : listCauses(query);
  const labels = parseLabelSelector(query.get("labelSelector") ?? "");
  if (!labels.ok) return badRequest(labels.error);
  if (causes.length > 0) return invalid({ group: "meta.k8s.io", kind: "ListOptions", name: "" }, causes);
  const fields = parseFieldSelector(query.get("fieldSelector") ?? "", type);
  if (!fields.ok) return badRequest(fields.error);
  const match = query.get("resourceVersionMatch") ?? "";
  const initial = query.get("sendInitialEvents");
  return ok({
    labels: labels.value,
    fields: fields.value,
    limit: Math.max(0, limit.value ?? 0),
    continue: query.get("continue") ?? "",
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: match === "Exact" || match === "NotOlderThan" ? match : "",
    timeoutSeconds: timeout.value,
    bookmarks: flag(query, "allowWatchBookmarks"),
    sendInitialEvents: initial === null ? undefined : isTrue(initial),
  });
}

export function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && isTrue(value);
}

export function integer(query: URLSearchParams, name: string): Result<number | undefined, Failure> {
  const text = query.get(name);
  if (text === null || text === "") return ok(undefined);
  if (/^[-+]?[0-9]{1,18}$/.test(text)) return ok(Number(text));
  const problem = /^[-+]?[0-9]+$/.test(text) ? "value out of range" : "invalid syntax";
  return badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${problem}`);
}

function matchCause(detail: string): FieldCause {
  const reason = detail.startsWith("Unsupported") ? "FieldValueNotSupported" : "FieldValueForbidden";
  return { reason, field: "resourceVersionMatch", detail };
}

function listCauses(query: URLSearchParams): readonly FieldCause[] {
  const match = query.get("resourceVersionMatch") ?? "";
  const version = query.get("resourceVersion") ?? "";
  const causes: FieldCause[] = [];
  if (match !== "") {
    if (version === "") causes.push(matchCause("Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"));
    if ((query.get("continue") ?? "") !== "")
      causes.push(matchCause("Forbidden: resourceVersionMatch is forbidden when continue is provided"));
    if (!MATCHES.has(match)) {
      causes.push(matchCause(`Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`));
    }
    if (match === "Exact" && version === "0") {
      causes.push(matchCause('Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (query.get("sendInitialEvents") !== null) {
    causes.push({
      reason: "FieldValueForbidden",
      field: "sendInitialEvents",
      detail: "Forbidden: sendInitialEvents is forbidden for list",
    });
  }
  return causes;
}

function watchCauses(query: URLSearchParams): readonly FieldCause[] {
  const match = query.get("resourceVersionMatch") ?? "";
  const initial = query.get("sendInitialEvents");
  const causes: FieldCause[] = [];
  if (match !== "" && initial === null) {
    causes.push(matchCause("Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  }
  if (match !== "NotOlderThan" && initial !== null) {
    causes.push(matchCause("Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (match !== "" && match !== "NotOlderThan") {
    causes.push(matchCause(`Unsupported value: ${JSON.stringify(match)}: supported values: "NotOlderThan"`));
  }
  // without a resourceVersion a real server sets sendInitialEvents itself, and then rejects the combination
  const legacy = ["", "0"].includes(query.get("resourceVersion") ?? "");
  if ((match !== "" || (initial === null && legacy)) && (query.get("continue") ?? "") !== "") {
    causes.push(matchCause("Forbidden: resourceVersionMatch is forbidden when continue is provided"));
  }
  return causes;
}
