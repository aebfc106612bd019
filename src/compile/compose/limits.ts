/** `deploy` and its older equivalents: replicas, and the resource limits of each. */
import { fieldAt, isJsonObject, type JsonObject } from "#kube";
import { scalarText } from "./text.ts";
import type { Notices } from "./notice.ts";

const MOST_REPLICAS = 1000;

export function replicasOf(service: JsonObject, notices: Notices): number | undefined {
  const value = fieldAt(service, "deploy", "replicas") ?? service["scale"];
  if (value === undefined || value === null) return undefined;
  const replicas = Number(scalarText(value, notices.at("deploy", "replicas")));
  if (Number.isInteger(replicas) && replicas >= 0 && replicas <= MOST_REPLICAS) return replicas;
  return notices.at("deploy", "replicas").warn(`is not a number from 0 to ${MOST_REPLICAS}, and is left out`);
}

export function computeResources(service: JsonObject, notices: Notices): JsonObject | undefined {
  const deployed = notices.at("deploy", "resources");
  const limits = declared(fieldAt(service, "deploy", "resources", "limits"), deployed.at("limits"));
  const requests = declared(fieldAt(service, "deploy", "resources", "reservations"), deployed.at("reservations"));
  const older = { ...cpu(service, "cpus", notices), ...memory(service, "mem_limit", notices) };
  const all = { limits: { ...older, ...limits }, requests: { ...memory(service, "mem_reservation", notices), ...requests } };
  const given = Object.entries(all).filter(([, values]) => Object.keys(values).length > 0);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

function declared(value: unknown, notices: Notices): JsonObject {
  if (!isJsonObject(value)) return {};
  for (const key of Object.keys(value)) if (key !== "cpus" && key !== "memory") notices.at(key).warn("is not converted");
  return { ...cpu(value, "cpus", notices), ...memory(value, "memory", notices) };
}

function cpu(from: JsonObject, key: string, notices: Notices): JsonObject {
  const text = scalarText(from[key], notices.at(key));
  if (text === undefined) return {};
  const quantity = cpuQuantity(text);
  return quantity === undefined ? (notices.at(key).warn("is no number of CPUs, and is left out") ?? {}) : { cpu: quantity };
}

function memory(from: JsonObject, key: string, notices: Notices): JsonObject {
  const text = scalarText(from[key], notices.at(key));
  if (text === undefined) return {};
  const quantity = memoryQuantity(text);
  return quantity === undefined ? (notices.at(key).warn("is no amount of memory, and is left out") ?? {}) : { memory: quantity };
}

function cpuQuantity(text: string): string | undefined {
  const cpus = /^\d{1,4}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (cpus <= 0) return undefined;
  return Number.isInteger(cpus) ? String(cpus) : `${Math.max(1, Math.round(cpus * 1000))}m`;
}

/** Docker's units are powers of 1024 in every spelling. */
function memoryQuantity(text: string): string | undefined {
  const [, number, unit = ""] = /^(\d{1,15})\s*(b|k|kb|m|mb|g|gb)?$/i.exec(text) ?? [];
  if (number === undefined || Number(number) === 0) return undefined;
  const suffix = { b: "", k: "Ki", m: "Mi", g: "Gi" }[unit.charAt(0).toLowerCase()] ?? "";
  return `${number}${suffix}`;
}
