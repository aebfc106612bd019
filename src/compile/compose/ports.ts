/**
 * `ports` and `expose`. Other services call a container at its own port, so that is the port of the service; the published host port
 * has no equivalent.
 */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { scalarText } from "./text.ts";
import type { Notices } from "./notice.ts";

type Port = { readonly number: number; readonly protocol: "TCP" | "UDP"; readonly name: string | undefined };

const MOST_IN_RANGE = 20;
/** Default ports of well-known images; Compose does not require them to be declared. */
const KNOWN_IMAGES: ReadonlyMap<string, number> = new Map([
  ["postgres", 5432],
  ["redis", 6379],
  ["valkey", 6379],
  ["mysql", 3306],
  ["mariadb", 3306],
  ["mongo", 27_017],
  ["rabbitmq", 5672],
  ["memcached", 11_211],
  ["nginx", 80],
  ["httpd", 80],
]);
const HTTP = new Set([80, 3000, 4000, 4200, 5000, 8000, 8080, 8081]);

/** Ports by name, in the form of a LatticeService. */
export function servicePorts(service: JsonObject, image: string, notices: Notices): JsonObject {
  const declared = [...listed(service, "ports", notices), ...listed(service, "expose", notices)];
  const known = KNOWN_IMAGES.get(imageName(image));
  if (declared.length === 0 && known !== undefined)
    notices.note(`declares no port; ${known} is used, the default port of image ${imageName(image)}`);
  const ports = declared.length === 0 && known !== undefined ? [{ number: known, protocol: "TCP" as const, name: undefined }] : declared;
  const unique = new Map(ports.map((port) => [`${port.protocol}/${port.number}`, port]));
  const named = new Map<string, JsonObject>();
  for (const { number, protocol, name } of unique.values()) {
    const wanted = name ?? (protocol === "TCP" && HTTP.has(number) ? "http" : `${protocol.toLowerCase()}-${number}`);
    const free = named.has(wanted) ? `${protocol.toLowerCase()}-${number}` : wanted;
    named.set(free, { port: number, ...(protocol === "TCP" ? {} : { protocol }) });
  }
  return Object.fromEntries(named);
}

/** `postgres` of `docker.io/library/postgres:17`. */
export function imageName(image: string): string {
  return image.replace(/@.*$/, "").replace(/^.*\//, "").replace(/:.*$/, "");
}

function listed(service: JsonObject, key: "ports" | "expose", notices: Notices): readonly Port[] {
  const value = service[key];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return notices.at(key).warn("is no list, and is left out") ?? [];
  return value.flatMap((item: Json, at) => portsIn(item, notices.at(key, at)));
}

function portsIn(item: Json, notices: Notices): readonly Port[] {
  if (isJsonObject(item)) return longForm(item, notices);
  const text = scalarText(item, notices);
  const [, published, first, last = first, protocol = "tcp"] = /^(.*:)?(\d{1,5})(?:-(\d{1,5}))?(?:\/(tcp|udp))?$/i.exec(text ?? "") ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (first === undefined || !isPort(from) || !isPort(to) || to < from)
    return notices.warn("is no port that can be read, and is left out") ?? [];
  if (to - from >= MOST_IN_RANGE)
    return notices.warn(`has more than ${MOST_IN_RANGE} ports, and is left out; name those that are called`) ?? [];
  if (published !== undefined) notPublished(notices, first);
  return Array.from({ length: to - from + 1 }, (_, at) => ({ number: from + at, protocol: protocolOf(protocol), name: undefined }));
}

function longForm(item: JsonObject, notices: Notices): readonly Port[] {
  const number = Number(scalarText(item["target"], notices.at("target")));
  if (!isPort(number)) return notices.warn("has no target that is a port, and is left out") ?? [];
  if (item["published"] !== undefined) notPublished(notices, String(number));
  const name = item["name"];
  const wellNamed = typeof name === "string" && /^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name) && !name.includes("--");
  return [{ number, protocol: protocolOf(item["protocol"]), name: wellNamed ? name : undefined }];
}

function notPublished(notices: Notices, port: string): void {
  notices.note(
    `is published on the host by Compose; in a cluster, services that both declare the call use port ${port}, and a resource of type route publishes it outside the cluster`,
  );
}

function isPort(number: number): boolean {
  return Number.isInteger(number) && number >= 1 && number <= 65_535;
}

function protocolOf(value: Json | undefined): Port["protocol"] {
  return typeof value === "string" && value.toLowerCase() === "udp" ? "UDP" : "TCP";
}
