/**
 * The proxy to pods, services and nodes. This server has no backends: invalid requests get the errors of a real server, all others the error
 * for an unreachable backend.
 */
import { ok, type Result } from "#base";
import { field, fieldAt, type KubeObject } from "#kube";
import { ipFamilyOf } from "../../builtin-kinds/rules/shared.ts";
import { readStored, type RequestContext } from "../../protocol/core.ts";
import { plainText } from "../../protocol/go-format.ts";
import type { ResponseResult } from "../../protocol/respond.ts";
import { badRequest, notFound, refuse, type Failure } from "../../protocol/status.ts";

const NO_BACKEND = "this is an embedded API server, and nothing listens there";

export function proxyToPod(call: RequestContext): ResponseResult {
  const asked = proxyTargetOf(call, "pod");
  if (!asked.ok) return asked;
  const { object, port } = asked.value;
  const address = plainText(fieldAt(object, "status", "podIP") ?? "");
  if (!isProxyable(address)) return badRequest("address not allowed");
  return unreachable(`dial tcp ${address}:${port === "" ? "80" : port}: ${NO_BACKEND}`);
}

export function proxyToService(call: RequestContext): ResponseResult {
  const asked = proxyTargetOf(call, "service");
  if (!asked.ok) return asked;
  const { object, port } = asked.value;
  const { name } = object.metadata;
  if (/^\d+$/.test(port) && !portsOf(object).includes(Number(port)))
    return unavailable(`no service port ${port} found for service "${name}"`);
  const { type } = call.target;
  const endpoints = call.core.types.find("", "v1", "endpoints");
  const found = endpoints === undefined ? undefined : readStored({ core: call.core, target: { ...call.target, type: endpoints } }, name);
  // without an Endpoints object a real server reports the service as missing
  return found === undefined ? notFound({ resource: type.resource, name }) : unavailable(`no endpoints available for service "${name}"`);
}

function portsOf(service: KubeObject): readonly unknown[] {
  const ports = fieldAt(service, "spec", "ports");
  return Array.isArray(ports) ? ports.map((port) => field(port, "port")) : [];
}

function unavailable(message: string): ResponseResult {
  return refuse({ code: 503, reason: "ServiceUnavailable", message });
}

export function proxyToNode(call: RequestContext): ResponseResult {
  const asked = proxyTargetOf(call, "node");
  return asked.ok ? unreachable(`node ${asked.value.object.metadata.name} has no kubelet: ${NO_BACKEND}`) : asked;
}

function unreachable(why: string): ResponseResult {
  return refuse({ code: 503, reason: "ServiceUnavailable", message: `error trying to reach service: ${why}` });
}

type ProxyTarget = { readonly object: KubeObject; readonly port: string };

/** The name in the path may have a scheme and a port: `https:web:443`. */
function proxyTargetOf(call: RequestContext, kind: string): Result<ProxyTarget, Failure> {
  const { type, name: id = "" } = call.target;
  const parts = id.split(":");
  const [scheme = "", name = "", port = ""] = parts.length === 3 ? parts : ["", ...parts];
  if (parts.length > 3 || name === "" || !["", "http", "https"].includes(scheme))
    return badRequest(`invalid ${kind} request ${JSON.stringify(id)}`);
  const stored = readStored(call, name);
  return stored === undefined ? notFound({ resource: type.resource, name }) : ok({ object: stored.object, port });
}

/** Rejects loopback, link-local, multicast and unspecified addresses. */
function isProxyable(address: string): boolean {
  return ipFamilyOf(address) !== undefined && !/^(127\.|169\.254\.|0\.0\.0\.0$|22[4-9]\.|23\d\.|::1?$|fe[89ab]|ff)/i.test(address);
}
