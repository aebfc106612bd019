/** The address of a webhook and the certificates to trust: `clientConfig` of admission webhooks and of conversion webhooks. */
import { posix } from "node:path";
import { field, isJsonObject, type Json } from "#kube";
import type { ServiceReference } from "../protocol/resolve-service.ts";

export type ClientConfig = {
  /** "https://host:port" as errors and the Host header have it; for a service, its name in the cluster. */
  readonly origin: string;
  /** Cleaned as Go cleans paths: no doubled or trailing slashes. */
  readonly path: string;
  /** Undefined: the address is in the origin. */
  readonly service: ServiceReference | undefined;
  /** PEM; "" means the certificates that this machine trusts. */
  readonly authorities: string;
};

const DEFAULT_PORT = 443;

/** The object was validated when it was written; a missing field only makes the call fail. */
export function readClientConfig(json: Json | undefined): ClientConfig {
  const authorities = decodeBundle(textOf(json, "caBundle"));
  const service = field(json, "service");
  if (!isJsonObject(service)) return { ...ofUrl(textOf(json, "url")), service: undefined, authorities };
  const port = field(service, "port");
  const reference = {
    namespace: textOf(service, "namespace"),
    name: textOf(service, "name"),
    port: typeof port === "number" && port !== 0 ? port : DEFAULT_PORT,
  };
  const origin = `https://${serverNameOf(reference)}:${reference.port}`;
  return { origin, path: cleanPath(textOf(service, "path")), service: reference, authorities };
}

/** The name that the certificate of a service must have. */
export function serverNameOf({ namespace, name }: ServiceReference): string {
  return `${name}.${namespace}.svc`;
}

function ofUrl(url: string): { readonly origin: string; readonly path: string } {
  if (!URL.canParse(url)) return { origin: "", path: "" };
  const parsed = new URL(url);
  // not `parsed.origin`, which drops an explicit default port
  const origin = /^[^/]*\/\/[^/?#]*/.exec(url)?.[0] ?? parsed.origin;
  return { origin, path: cleanPath(parsed.pathname.replaceAll(/%2f/gi, "/")) };
}

function cleanPath(path: string): string {
  const clean = posix.join("/", path);
  return clean.length > 1 && clean.endsWith("/") ? clean.slice(0, -1) : clean;
}

function decodeBundle(base64: string): string {
  return Buffer.from(base64, "base64").toString("utf8").trim();
}

function textOf(json: Json | undefined, name: string): string {
  const value = field(json, name);
  return typeof value === "string" ? value : "";
}
