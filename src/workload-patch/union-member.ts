/**
 * Fields that exclude each other. While the webhook does not act, the API server merges what the owner's tool sends with what is stored. It would
 * refuse a Deployment with two members of a union, so a member is replaced by the same member only.
 */
import { field, isJsonObject, type Json } from "#kube";
import { HANDLERS } from "./shapes.ts";

/** The fields of an element, probe or handler of which it has one. undefined: not known by name. */
export function armsOf(list: string): readonly string[] | undefined {
  if (list === "env") return ["value", "valueFrom"];
  return list.endsWith("Probe") || list === "preStop" || list === "postStart" ? HANDLERS : undefined;
}

/** The member that a value has; of `valueFrom`, the member inside. `list`: the field, or for an element its list. undefined: none. */
export function memberOf(list: string, value: Json | undefined): string | undefined {
  if (PROFILES.has(list)) return profileOf(value);
  const arms = list === "volumes" ? fieldsOf(value).filter((name) => name !== "name") : armsOf(list);
  const arm = fieldsOf(value).find((name) => arms?.includes(name));
  return arm === "valueFrom" ? fieldsOf(field(value, arm))[0] : arm;
}

/** Whether a value of this field or list can have a member. */
function isUnion(list: string): boolean {
  return PROFILES.has(list) || list === "volumes" || armsOf(list) !== undefined;
}

/** A profile has a file name when its type is Localhost, and only then. */
const PROFILES = new Set(["seccompProfile", "appArmorProfile"]);

function profileOf(profile: Json | undefined): string | undefined {
  const type = field(profile, "type");
  if (type === undefined) return undefined;
  return type === "Localhost" ? "type Localhost" : "another type";
}

/** The server stores no null and no empty text. */
function fieldsOf(value: Json | undefined): readonly string[] {
  if (!isJsonObject(value)) return [];
  return Object.keys(value).filter((name) => ![undefined, null, ""].includes(field(value, name) as string | null | undefined));
}

/** Why the owner's value stays. undefined: it can be replaced. */
export function exclusion(list: string, now: Json | undefined, wanted: Json | undefined): string | undefined {
  if (!isUnion(list)) return undefined;
  const [own, ours] = [memberOf(list, now), memberOf(list, wanted)];
  if (own === undefined || ours === undefined || own === ours) return undefined;
  return `the Deployment has ${own} and the service ${ours}, which exclude each other; use ${own} in the service, or remove one of both`;
}
