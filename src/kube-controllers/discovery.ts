/**
 * The kinds that an API server serves, by discovery: every kind once, in its preferred version, and the kinds of all versions.
 *
 * A group whose discovery fails (an aggregated API server that is down) is a failure of that group only.
 */
import { err, ok, type Result } from "#base";
import { apiVersionOf, field, fieldAt, isJsonObject, parseJson, type Json, type Resource } from "#kube";
import type { KubeError, KubeRaw } from "#kube-client";

export type ServedResource = Resource & {
  readonly verbs: ReadonlySet<string>;
  /** Whether the kind has the scale subresource. */
  readonly scalable: boolean;
};

export type Discovered = {
  /** Each plural of a group once, in the group's preferred version or the first that has it. */
  readonly preferred: readonly ServedResource[];
  /** All versions, by `kindKey`. */
  readonly byKind: ReadonlyMap<string, ServedResource>;
  /** "group/version" to the error. */
  readonly failures: ReadonlyMap<string, string>;
};

type Group = { readonly name: string; readonly versions: readonly string[] };

export function kindKey(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`;
}

export async function discover(client: KubeRaw, signal: AbortSignal): Promise<Result<Discovered, KubeError>> {
  const [core, groups] = await Promise.all([ask(client, "/api", signal), ask(client, "/apis", signal)]);
  if (!core.ok) return core;
  if (!groups.ok) return groups;
  const all = [{ name: "", versions: texts(field(core.value, "versions")) }, ...items(field(groups.value, "groups")).map(groupOf)];
  const asked = await Promise.all(all.flatMap((group) => group.versions.map((version) => resourcesOf(client, { group, version }, signal))));
  const [preferred, byKind, failures] = [new Map<string, ServedResource>(), new Map<string, ServedResource>(), new Map<string, string>()];
  // responses are in the order of the versions, preferred first: the first entry wins
  for (const { apiVersion, resources } of asked) {
    if (!resources.ok) failures.set(apiVersion, reasonOf(apiVersion, resources.error));
    for (const resource of resources.ok ? resources.value : []) {
      byKind.set(kindKey(apiVersion, resource.kind), byKind.get(kindKey(apiVersion, resource.kind)) ?? resource);
      const name = `${resource.group}/${resource.plural}`;
      preferred.set(name, preferred.get(name) ?? resource);
    }
  }
  return ok({ preferred: [...preferred.values()], byKind, failures });
}

async function resourcesOf(client: KubeRaw, { group, version }: { group: Group; version: string }, signal: AbortSignal) {
  const apiVersion = apiVersionOf({ group: group.name, version });
  const answer = await ask(client, group.name === "" ? `/api/${version}` : `/apis/${apiVersion}`, signal);
  if (!answer.ok) return { apiVersion, resources: answer };
  const listed = items(field(answer.value, "resources"));
  const names = new Set(texts(listed.map((raw) => field(raw, "name") ?? null)));
  const resources = listed.flatMap((raw) => servedResource(raw, { group: group.name, version, names }));
  return { apiVersion, resources: ok(resources) };
}

/** Subresources are listed as "pods/status" in the same list. */
function servedResource(raw: Json, at: { group: string; version: string; names: ReadonlySet<string> }): readonly ServedResource[] {
  const [plural, kind] = [field(raw, "name"), field(raw, "kind")];
  if (typeof plural !== "string" || typeof kind !== "string" || plural.includes("/")) return [];
  const { group, version, names } = at;
  const verbs = new Set(texts(field(raw, "verbs")));
  return [{ group, version, kind, plural, namespaced: field(raw, "namespaced") === true, verbs, scalable: names.has(`${plural}/scale`) }];
}

function groupOf(raw: Json): Group {
  const name = field(raw, "name");
  const versions = items(field(raw, "versions")).flatMap((entry) => texts([field(entry, "version") ?? null]));
  const preferred = fieldAt(raw, "preferredVersion", "version");
  const first = typeof preferred === "string" && versions.includes(preferred) ? [preferred] : [];
  return { name: typeof name === "string" ? name : "", versions: [...new Set([...first, ...versions])] };
}

/** client-go's message for a group whose server does not respond: users search for it. */
function reasonOf(apiVersion: string, error: KubeError): string {
  return error.kind === "unavailable" ? `stale GroupVersion discovery: ${apiVersion}` : error.message;
}

async function ask(client: KubeRaw, path: string, signal: AbortSignal): Promise<Result<Json, KubeError>> {
  const text = await client.raw(path, { signal });
  if (!text.ok) return text;
  const parsed = parseJson(text.value);
  if (parsed.ok && isJsonObject(parsed.value)) return ok(parsed.value);
  return err({ kind: "protocol", message: `the API server's answer to ${path} is not a discovery document` });
}

function items(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function texts(value: Json | undefined): readonly string[] {
  return items(value).filter((item) => typeof item === "string");
}
