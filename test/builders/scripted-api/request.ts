/** A request taken apart: which collection, which object, who asks. Paths are Kubernetes' own (`pathOf` in #kube builds them). */
import { keyText, parseSelector, matches, type KubeObject, type Requirement } from "#kube";
import type { TransportRequest } from "#kube-client";

export type Target = {
  /** "group/plural": versions of a kind share their objects. */
  readonly collection: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
};

export type ParsedRequest = Target & {
  readonly method: TransportRequest["method"];
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  /** The User-Agent, so that tests can say who wrote what. */
  readonly actor: string;
  readonly body: unknown;
  readonly isWatch: boolean;
};

export function parseRequest(request: TransportRequest): ParsedRequest | undefined {
  const url = new URL(request.path, "http://scripted");
  const target = parseTarget(url.pathname.split("/").slice(1).map(decodeURIComponent));
  if (target === undefined) return undefined;
  return {
    ...target,
    method: request.method,
    path: request.path,
    query: url.searchParams,
    contentType: headerOf(request, "content-type"),
    actor: headerOf(request, "user-agent"),
    body: request.body === undefined ? undefined : JSON.parse(request.body),
    isWatch: request.method === "GET" && target.name === undefined && ["1", "true"].includes(url.searchParams.get("watch") ?? ""),
  };
}

function parseTarget(parts: readonly string[]): Target | undefined {
  const core = parts[0] === "api";
  if (!core && parts[0] !== "apis") return undefined;
  const group = core ? "" : (parts[1] ?? "");
  const rest = parts.slice(core ? 2 : 3);
  // "/namespaces/shop" is an object of its own; "/namespaces/shop/configmaps" is a place
  const inNamespace = rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "status";
  const [plural, name, subresource] = inNamespace ? rest.slice(2) : rest;
  if (plural === undefined || plural === "") return undefined;
  return { collection: `${group}/${plural}`, namespace: inNamespace ? rest[1] : undefined, name, subresource };
}

function headerOf(request: TransportRequest, name: string): string {
  return Object.entries(request.headers).find(([header]) => header.toLowerCase() === name)?.[1] ?? "";
}

export function keyOfTarget(target: Target, name: string): string {
  return keyText({ namespace: target.namespace, name });
}

/** Which objects a list or watch is about: namespace, labels, and the two fields that every kind can be selected by. */
export function selectionOf(request: ParsedRequest): (object: KubeObject) => boolean {
  const parsed = parseSelector(request.query.get("labelSelector") ?? "");
  const requirements: readonly Requirement[] = parsed.ok ? parsed.value : [];
  const fields = (request.query.get("fieldSelector") ?? "").split(",").map((term) => term.split("="));
  return ({ metadata }) =>
    (request.namespace === undefined || metadata.namespace === request.namespace) &&
    matches(requirements, metadata.labels) &&
    fields.every(([field, value]) =>
      field === "metadata.name" ? metadata.name === value : field === "metadata.namespace" ? metadata.namespace === value : true,
    );
}
