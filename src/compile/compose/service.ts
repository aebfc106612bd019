/** One service of a Compose file as a LatticeService, without the declarations that follow from other services. */
import { LATTICE_API_VERSION } from "#crds";
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { variablesOf } from "./environment.ts";
import { readinessProbe } from "./healthcheck.ts";
import { computeResources, replicasOf } from "./limits.ts";
import type { Notices } from "./notice.ts";
import { imageName, servicePorts } from "./ports.ts";
import { scalarText, wordsOf } from "./text.ts";
import { mountedVolumes } from "./volumes.ts";

const CONVERTED: ReadonlySet<string> = new Set(
  "image build command entrypoint environment ports expose volumes depends_on links healthcheck deploy scale cpus mem_limit mem_reservation restart user read_only".split(
    " ",
  ),
);

const ADVICE: ReadonlyMap<string, string> = new Map([
  ["env_file", "is not read; copy its lines into variables, or convert what docker compose config prints"],
  ["networks", "is not converted: services call each other only where both sides declare it"],
  ["container_name", "is not converted: other services use the name of the service"],
  ["profiles", "is not converted: the service is always there"],
  ["extends", "is not followed; convert what docker compose config prints"],
  ["secrets", "is not converted: use LatticeSecretBindings and ${secrets.NAME.KEY}"],
  ["configs", "is not converted: put the text under files"],
]);

/** Images for which Lattice has a resource type. */
const MANAGED: ReadonlySet<string> = new Set(["postgres", "redis"]);

export type ServiceContext = {
  /** Its name as a LatticeService. */
  readonly name: string;
  /** Names of all services. */
  readonly taken: ReadonlySet<string>;
  readonly notices: Notices;
};

export function convertService(service: JsonObject, { name, taken, notices }: ServiceContext): JsonObject {
  leftOut(service, notices);
  const image = imageOf(service, name, notices);
  const { mounts, resources } = mountedVolumes(service["volumes"], { owner: name, taken, notices: notices.at("volumes") });
  const ports = servicePorts(service, image, notices);
  const replicas = replicasOf(service, notices);
  const main = {
    image,
    command: commandOf(service, "entrypoint", notices),
    args: commandOf(service, "command", notices),
    variables: filled(variablesOf(service["environment"], notices.at("environment"))),
    volumes: filled(mounts),
    resources: computeResources(service, notices),
    readinessProbe: readinessProbe(service["healthcheck"], notices.at("healthcheck")),
    securityContext: filled(securityContextOf(service, notices)),
  };
  const spec = {
    containers: { main: present(main) },
    resources: filled(resources),
    service: Object.keys(ports).length === 0 ? undefined : { ports },
    replicas: replicas === undefined ? undefined : { min: replicas },
  };
  return { apiVersion: LATTICE_API_VERSION, kind: "LatticeService", metadata: { name }, spec: present(spec) };
}

function present(fields: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}

function filled(map: JsonObject): JsonObject | undefined {
  return Object.keys(map).length === 0 ? undefined : map;
}

function leftOut(service: JsonObject, notices: Notices): void {
  for (const key of Object.keys(service)) {
    if (CONVERTED.has(key) || key.startsWith("x-")) continue;
    const advice = ADVICE.get(key) ?? "is not converted";
    if (key === "networks") notices.at(key).note(advice);
    else notices.at(key).warn(advice);
  }
  const { restart } = service;
  if (restart === "no" || restart === false) notices.at("restart").warn("is not converted: a container that ends is started again");
  const deploy = field(service, "deploy");
  for (const key of isJsonObject(deploy) ? Object.keys(deploy) : []) {
    const isDefault = key === "mode" && field(deploy, key) === "replicated";
    if (key !== "replicas" && key !== "resources" && !isDefault) notices.at("deploy", key).warn("is not converted");
  }
}

function imageOf(service: JsonObject, name: string, notices: Notices): string {
  const given = scalarText(service["image"], notices.at("image"));
  const { build } = service;
  if (build !== undefined) notices.at("build").warn("is not converted: a cluster runs images; build it and push it to a registry");
  if (given === undefined || given === "") {
    const image = `registry.example.com/${name}:latest`;
    notices.warn(`names no image, so ${image} is used instead`);
    return image;
  }
  const managed = imageName(given);
  if (MANAGED.has(managed))
    notices.at("image").note(`a resource of type ${managed} in the callers replaces this service where the server runs elsewhere`);
  return given;
}

function commandOf(service: JsonObject, key: "entrypoint" | "command", notices: Notices): readonly string[] | undefined {
  const value = service[key];
  if (value === undefined || value === null) return undefined;
  const words = wordsOf(value, notices.at(key));
  return words === undefined || words.length === 0 ? notices.at(key).warn("is neither a text nor a list of texts, and is left out") : words;
}

function securityContextOf(service: JsonObject, notices: Notices): JsonObject {
  const readOnly = service["read_only"] === true ? { readOnlyRootFilesystem: true } : {};
  return { ...userOf(service["user"], notices.at("user")), ...readOnly };
}

function userOf(value: Json | undefined, notices: Notices): JsonObject {
  if (value === undefined || value === null) return {};
  const [, user, group] = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(scalarText(value, notices) ?? "") ?? [];
  if (user === undefined || Number(user) === 0)
    return notices.warn("is not converted: give a number above 0, since containers do not run as root") ?? {};
  return { runAsUser: Number(user), ...(group === undefined || Number(group) === 0 ? {} : { runAsGroup: Number(group) }) };
}
