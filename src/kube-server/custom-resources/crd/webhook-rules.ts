/** The address of a conversion webhook: a URL or a Service, never both. */
import { dnsSubdomainProblems, field, isJsonObject, type JsonObject } from "#kube";
import { parseUrl } from "#cel";
import type { FieldCause } from "../../resource-type.ts";
import { invalid, required } from "../causes/causes.ts";
import { child } from "../causes/field-path.ts";
import { text } from "./json-access.ts";

const FORM = "; desired format: https://host[/path]";

export function webhookClientCauses(client: JsonObject, path: string): readonly FieldCause[] {
  const url = field(client, "url");
  const service = field(client, "service");
  if (isJsonObject(service) === (typeof url === "string")) return [required(path, "exactly one of url or service is required")];
  if (typeof url === "string") return urlCauses(url, child(path, "url"));
  return isJsonObject(service) ? serviceCauses(service, child(path, "service")) : [];
}

function urlCauses(url: string, path: string): readonly FieldCause[] {
  const parsed = parseUrl(url, "any");
  if (!parsed.ok) return [required(path, `url must be a valid URL: ${parsed.error}${FORM}`)];
  const { scheme, host, user, fragment, query } = parsed.value;
  const causes: FieldCause[] = [];
  if (scheme !== "https") causes.push(invalid(path, scheme, `'https' is the only allowed URL scheme${FORM}`));
  if (host === "") causes.push(invalid(path, host, `host must be specified${FORM}`));
  if (user !== undefined) causes.push(invalid(path, user, "user information is not permitted in the URL"));
  if (fragment !== "") causes.push(invalid(path, fragment, "fragments are not permitted in the URL"));
  if (query !== "") causes.push(invalid(path, query, "query parameters are not permitted in the URL"));
  return causes;
}

/** Surprise: the server passes name and namespace in the wrong order, so a missing name is reported as a missing namespace. */
function serviceCauses(service: JsonObject, path: string): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  if (text(service, "namespace") === "") causes.push(required(child(path, "name")));
  if (text(service, "name") === "") causes.push(required(child(path, "namespace")));
  const port = field(service, "port");
  if (typeof port !== "number" || port < 1 || port > 65_535) {
    causes.push(invalid(child(path, "port"), port, "port is not valid: must be between 1 and 65535, inclusive"));
  }
  const urlPath = field(service, "path");
  return typeof urlPath === "string" ? [...causes, ...pathCauses(urlPath, child(path, "path"))] : causes;
}

function pathCauses(urlPath: string, path: string): readonly FieldCause[] {
  if (urlPath === "/" || urlPath === "") return [];
  if (urlPath === "//") return [invalid(path, urlPath, "segment[0] may not be empty")];
  const start = urlPath.startsWith("/") ? [] : [invalid(path, urlPath, "must start with a '/'")];
  const steps = urlPath.slice(1).replace(/\/$/, "").split("/");
  const segments = steps.flatMap((step, at) => {
    if (step === "") return [invalid(path, urlPath, `segment[${at}] may not be empty`)];
    return dnsSubdomainProblems(step).map((problem) => invalid(path, urlPath, `segment[${at}]: ${problem}`));
  });
  return [...start, ...segments];
}
