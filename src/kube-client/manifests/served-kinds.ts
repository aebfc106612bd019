/** The kinds that a server serves, found by discovery: by apiVersion and kind for manifests, by any of its names for arguments. */
import { err, ok, type Result } from "#base";
import { field, fieldAt, groupResourceOf, parseJson, type Json, type Resource } from "#kube";
import type { CallOptions, KubeRaw } from "../ports.ts";

type NamedResource = { readonly resource: Resource; readonly names: ReadonlySet<string> };

export class ServedKinds {
  readonly #client: KubeRaw;
  readonly #call: CallOptions;
  /** By apiVersion. */
  readonly #lists = new Map<string, readonly NamedResource[]>();

  constructor(client: KubeRaw, call: CallOptions) {
    this.#client = client;
    this.#call = call;
  }

  /** Undefined: the server has no such kind. What the server did not have before is asked again. */
  async byKind(apiVersion: string, kind: string): Promise<Result<Resource | undefined, string>> {
    const known = this.#lists.get(apiVersion)?.find(({ resource }) => resource.kind === kind);
    if (known !== undefined) return ok(known.resource);
    this.#lists.delete(apiVersion);
    const list = await this.#list(apiVersion);
    return list.ok ? ok(list.value.find(({ resource }) => resource.kind === kind)?.resource) : list;
  }

  /** "deployments", "deployment", "deploy", "Deployment" or "deployments.apps". The core group first, as kubectl does. */
  async byName(name: string): Promise<Result<Resource | undefined, string>> {
    const groups = await this.#ask("/apis");
    if (!groups.ok) return groups;
    const versions = items(field(groups.value, "groups")).map((group) => fieldAt(group, "preferredVersion", "groupVersion"));
    for (const apiVersion of ["v1", ...versions.filter((version) => typeof version === "string")]) {
      const list = await this.#list(apiVersion);
      if (!list.ok) return list;
      const found = list.value.find(({ names }) => names.has(name.toLowerCase()));
      if (found !== undefined) return ok(found.resource);
    }
    return ok(undefined);
  }

  async #list(apiVersion: string): Promise<Result<readonly NamedResource[], string>> {
    const known = this.#lists.get(apiVersion);
    if (known !== undefined) return ok(known);
    const answer = await this.#ask(apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`);
    if (!answer.ok) return answer;
    const list = items(field(answer.value, "resources")).flatMap((raw) => namedResource(raw, apiVersion));
    this.#lists.set(apiVersion, list);
    return ok(list);
  }

  /** A path that the server does not have is an empty list. */
  async #ask(path: string): Promise<Result<Json, string>> {
    const text = await this.#client.raw(path, this.#call);
    if (!text.ok) return text.error.kind === "not-found" ? ok({}) : err(text.error.message);
    const parsed = parseJson(text.value);
    return parsed.ok ? parsed : err(`the server's answer to ${path} is not JSON`);
  }
}

function namedResource(raw: Json, apiVersion: string): readonly NamedResource[] {
  const [plural, kind, singular] = [field(raw, "name"), field(raw, "kind"), field(raw, "singularName")];
  if (typeof plural !== "string" || typeof kind !== "string" || plural.includes("/")) return [];
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  const resource: Resource = { group, version, kind, plural, namespaced: field(raw, "namespaced") === true };
  const short = items(field(raw, "shortNames")).filter((name) => typeof name === "string");
  const plain = [plural, kind, ...(typeof singular === "string" ? [singular] : []), ...short].map((name) => name.toLowerCase());
  const names = new Set([...plain, ...plain.map((name) => groupResourceOf({ ...resource, plural: name }))]);
  return [{ resource, names }];
}

function items(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
