/**
 * Restores the initial objects of a world: objects that fuzzing created are deleted, objects that it deleted are created again.
 *
 * Without this the server would fill up, its memory could not be compared between chapters, and one denying webhook would reject all later requests.
 */
import { setTimeout as delay } from "node:timers/promises";
import { apiVersionOf, fieldAt, keyOf, keyText, parseJson, type Json, type KubeObject } from "#kube";
import type { ResourceType } from "#kube-server";
import { sendFuzzed } from "./fuzz-in-process.ts";
import { WITNESS } from "./fuzz-witness.ts";
import type { FuzzWorld } from "./fuzz-world.ts";

/** The initial objects by type and key. */
export type Baseline = ReadonlyMap<ResourceType, ReadonlyMap<string, KubeObject>>;

/** Kinds that can reject or change later writes are restored first. */
const FIRST = /webhookconfigurations|admissionpolic|resourcequotas|limitranges/;
/** Controllers own these kinds, or write them all the time. */
const NOT_OURS = /^(events|nodes|leases|componentstatuses|controllerrevisions|endpointslices|endpoints|apiservices)$/;
const ROUNDS = 40;

export async function baselineOf(world: FuzzWorld): Promise<Baseline> {
  const baseline = new Map<ResourceType, ReadonlyMap<string, KubeObject>>();
  for (const type of tidied(world))
    baseline.set(type, new Map((await list(world, type)).map((object) => [keyText(keyOf(object)), object])));
  return baseline;
}

/** The differences that could not be restored. */
export async function tidy(world: FuzzWorld, baseline: Baseline): Promise<readonly string[]> {
  let left: readonly string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    left = [];
    for (const type of tidied(world)) left = [...left, ...(await tidyKind(world, type, baseline.get(type)))];
    if (left.length === 0) break;
    await delay(25); // controllers delete dependents after they have observed the deletion
  }
  for (const { metadata } of await list(world, namespacesOf(world)))
    await send(world, "DELETE", `/api/v1/namespaces/${metadata.name}/events`);
  await world.renewAccount();
  return left;
}

function namespacesOf({ types }: FuzzWorld): ResourceType {
  const namespaces = types.find(({ resource }) => resource.plural === "namespaces");
  if (namespaces === undefined) throw new Error("there are no namespaces");
  return namespaces;
}

function tidied({ types }: FuzzWorld): readonly ResourceType[] {
  const stored = types.filter(
    ({ verbs, resource }) => verbs.includes("list") && verbs.includes("delete") && !NOT_OURS.test(resource.plural),
  );
  return [
    ...stored.filter(({ resource }) => FIRST.test(resource.plural)),
    ...stored.filter(({ resource }) => !FIRST.test(resource.plural)),
  ];
}

async function tidyKind(
  world: FuzzWorld,
  type: ResourceType,
  wanted: ReadonlyMap<string, KubeObject> = new Map(),
): Promise<readonly string[]> {
  const found = new Set<string>();
  const wrong: string[] = [];
  for (const object of await list(world, type)) {
    const key = keyText(keyOf(object));
    found.add(key);
    if (isUnchanged(object, wanted.get(key))) continue;
    const problem = await remove(world, type, object);
    wrong.push(problem ?? `${type.resource.plural} ${key} was there`);
  }
  for (const [key, object] of wanted)
    if (!found.has(key)) wrong.push((await restore(world, type, object)) ?? `${type.resource.plural} ${key} was gone`);
  return wrong;
}

function isUnchanged({ metadata }: KubeObject, wanted: KubeObject | undefined): boolean {
  return wanted !== undefined && metadata.deletionTimestamp === undefined && metadata.generation === wanted.metadata.generation;
}

async function remove(world: FuzzWorld, type: ResourceType, { metadata }: KubeObject): Promise<string | undefined> {
  const url = urlOf(type, metadata.namespace, metadata.name);
  if ((metadata.finalizers ?? []).length > 0) {
    await send(world, "PATCH", url, { body: { metadata: { finalizers: null } }, type: "application/merge-patch+json" });
  }
  const answer = await send(world, "DELETE", url, { body: { gracePeriodSeconds: 0, propagationPolicy: "Background" } });
  return answer.status === 200 || answer.status === 404 || answer.status === 409
    ? undefined
    : `DELETE ${url}: ${answer.text.slice(0, 300)}`;
}

async function restore(world: FuzzWorld, type: ResourceType, object: KubeObject): Promise<string | undefined> {
  const { resourceVersion: _version, uid: _uid, ...metadata } = object.metadata;
  const body = { ...object, apiVersion: apiVersionOf(type.resource), kind: type.resource.kind, metadata } as unknown as Json;
  const answer = await send(world, "POST", urlOf(type, metadata.namespace), { body });
  return answer.status === 201 || answer.status === 409 ? undefined : `POST ${metadata.name}: ${answer.text.slice(0, 300)}`;
}

async function list(world: FuzzWorld, type: ResourceType): Promise<readonly KubeObject[]> {
  const { status, text } = await send(world, "GET", urlOf(type, undefined));
  const body = parseJson(text);
  // a kind whose definition was deleted is restored with the definition
  const items = status === 200 && body.ok ? (fieldAt(body.value, "items") as unknown as readonly KubeObject[]) : [];
  return items.filter(({ metadata }) => metadata.namespace !== WITNESS);
}

function urlOf({ resource }: ResourceType, namespace: string | undefined, name?: string): string {
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const space = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${root}${space}/${resource.plural}${name === undefined ? "" : `/${encodeURIComponent(name.toWellFormed())}`}`;
}

function send(
  { server }: FuzzWorld,
  method: string,
  url: string,
  { body, type = "application/json" }: { body?: Json; type?: string } = {},
) {
  const headers = { accept: "application/json", "content-type": type };
  return sendFuzzed(server, { method, url, headers, body: body === undefined ? undefined : JSON.stringify(body) });
}
