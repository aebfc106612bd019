/**
 * A Docker Compose file as LatticeServices: one for each service, and an agreement on both sides for each `depends_on` and `links`. What cannot be converted
 * is reported as a notice with its field.
 */
import { err, ok, type Result } from "#base";
import { parseLatticeService } from "#crds";
import { field, fieldAt, isJsonObject, type Json, type JsonObject } from "#kube";
import { dnsLabel } from "./names.ts";
import { Notices, type ComposeNotice } from "./notice.ts";
import { convertService } from "./service.ts";

const MAX_SERVICES = 500;

/** The LatticeServices to write to files, and the notices about them. */
export type ConvertedCompose = { readonly services: readonly JsonObject[]; readonly notices: readonly ComposeNotice[] };

/**
 * Converts a Compose file that `isCompose` accepts. The error is one sentence.
 *
 * @example const { services, notices } = expectOk(convertCompose({ services: { web: { image: "nginx", ports: ["8080:80"] } } }));
 */
export function convertCompose(file: Json): Result<ConvertedCompose, string> {
  const all: ComposeNotice[] = [];
  const notices = new Notices(all, []);
  const written = Object.entries(mapOf(field(file, "services")));
  if (written.length === 0) return err("the file has no services");
  if (written.length > MAX_SERVICES)
    return err(`the file has ${written.length} services, and at most ${MAX_SERVICES} are converted at once`);
  const names = namesOf(written.map(([name]) => name));
  if (!names.ok) return names;
  leftOut(file, notices);
  const taken = new Set(names.value.values());
  const converted = new Map<string, JsonObject>();
  for (const [original, value] of written) {
    const name = names.value.get(original) ?? "";
    const own = notices.at("services", original);
    if (name !== original)
      own.warn(`is renamed to ${name}: a name in a cluster has lower case letters, digits and '-'; callers must use the new name`);
    converted.set(name, convertService(mapOf(value), { name, taken, notices: own }));
  }
  const agreements = agreementsIn(written, names.value, notices);
  const services = [...converted].map(([name, service]) => withAgreements(service, agreements.get(name)));
  for (const [name, service] of converted) if (isCalledWithoutPort(service, agreements.get(name))) tellNoPort(names.value, name, notices);
  notices
    .at("services")
    .note("only depends_on and links become agreements; every other call between services stays closed until both declare it");
  return checked(services, all);
}

function mapOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** By the service name in the file. */
function namesOf(written: readonly string[]): Result<ReadonlyMap<string, string>, string> {
  const names = new Map(written.map((name) => [name, dnsLabel(name)]));
  for (const [label, same] of Map.groupBy(written, dnsLabel))
    if (same.length > 1) return err(`services ${same.join(" and ")} would both be called ${label}; rename one of them`);
  return ok(names);
}

const TOP_LEVEL: ReadonlyMap<string, string> = new Map([
  ["networks", "is not converted: services call each other only where both sides declare it"],
  ["name", "is not converted: give a namespace with -n, or an environment"],
]);

function leftOut(file: Json, notices: Notices): void {
  for (const [key, value] of Object.entries(mapOf(file))) {
    if (key === "services" || key === "version" || key.startsWith("x-")) continue;
    if (key === "volumes") {
      for (const [name, volume] of Object.entries(mapOf(value)))
        if (Object.keys(mapOf(volume ?? null)).length > 0) notices.at(key, name).warn("has settings that are not converted");
    } else if (TOP_LEVEL.has(key)) notices.at(key).note(TOP_LEVEL.get(key) ?? "");
    else notices.at(key).warn("is not converted");
  }
}

type Directions = Map<string, "inbound" | "outbound" | "both">;

function agreementsIn(
  written: readonly (readonly [string, Json | undefined])[],
  names: ReadonlyMap<string, string>,
  notices: Notices,
): ReadonlyMap<string, Directions> {
  const agreements = new Map([...names.values()].map((name): [string, Directions] => [name, new Map()]));
  const agree = (of: string, peer: string, direction: "inbound" | "outbound") => {
    const own = agreements.get(of);
    const before = own?.get(peer);
    own?.set(peer, before === undefined || before === direction ? direction : "both");
  };
  for (const [name, service] of written) {
    const caller = names.get(name) ?? "";
    for (const callee of calleesOf(mapOf(service), notices.at("services", name))) {
      const label = names.get(callee.name);
      if (label === undefined) callee.notices.warn(`${callee.name} is not a service of this file, and is left out`);
      else if (label !== caller) {
        agree(caller, label, "outbound");
        agree(label, caller, "inbound");
      }
    }
  }
  return agreements;
}

type Callee = { readonly name: string; readonly notices: Notices };

function calleesOf(service: JsonObject, notices: Notices): readonly Callee[] {
  return [...dependenciesOf(service["depends_on"], notices.at("depends_on")), ...linksOf(service["links"], notices.at("links"))];
}

function dependenciesOf(value: Json | undefined, notices: Notices): readonly Callee[] {
  if (Array.isArray(value)) return value.flatMap((name: Json, at) => (typeof name === "string" ? [{ name, notices: notices.at(at) }] : []));
  return Object.entries(mapOf(value)).flatMap(([name, how]) => {
    const condition = field(how, "condition");
    if (condition === "service_completed_successfully")
      return notices.at(name).warn("waits for a service that ends, and is left out: pods start in any order, and are started again") ?? [];
    if (condition === "service_healthy")
      notices.at(name, "condition").note("is not converted: pods start in any order, so a caller must try again");
    return [{ name, notices: notices.at(name) }];
  });
}

function linksOf(value: Json | undefined, notices: Notices): readonly Callee[] {
  return (Array.isArray(value) ? (value as readonly Json[]) : []).flatMap((link, at) => {
    const [name = "", alias] = typeof link === "string" ? link.split(":") : [];
    if (alias !== undefined && alias !== name) notices.at(at).warn(`the alias ${alias} is not converted; call it ${name}`);
    return name === "" ? [] : [{ name, notices: notices.at(at) }];
  });
}

function withAgreements(service: JsonObject, directions: Directions | undefined): JsonObject {
  if (directions === undefined || directions.size === 0) return service;
  const { containers, resources, ...rest } = mapOf(service["spec"]);
  const agreed = Object.fromEntries([...directions].map(([peer, direction]) => [peer, { direction }]));
  return { ...service, spec: { containers, resources: { ...mapOf(resources), ...agreed }, ...rest } };
}

function isCalledWithoutPort(service: JsonObject, directions: Directions | undefined): boolean {
  const isCalled = [...(directions?.values() ?? [])].some((direction) => direction !== "outbound");
  return isCalled && mapOf(service["spec"])["service"] === undefined;
}

function tellNoPort(names: ReadonlyMap<string, string>, name: string, notices: Notices): void {
  const [written = name] = [...names].find(([, label]) => label === name) ?? [];
  notices.at("services", written).warn("is called by others and declares no port, so they cannot reach it; add spec.service.ports");
}

/** The result must pass `lattice validate`. */
function checked(services: readonly JsonObject[], notices: readonly ComposeNotice[]): Result<ConvertedCompose, string> {
  for (const service of services) {
    const parsed = parseLatticeService(service);
    const [first] = parsed.ok ? [] : parsed.error;
    if (first !== undefined) return err(`service ${nameOf(service)} cannot be converted: ${first.path}: ${first.message}`);
  }
  return ok({ services, notices });
}

function nameOf(service: JsonObject): string {
  const name = fieldAt(service, "metadata", "name");
  return typeof name === "string" ? name : "";
}
