/** The target of an autoscaler, by its `scale` subresource: any kind that has one, custom resources included. */
import { err, ok, type Result } from "#base";
import {
  defineResource,
  field,
  fieldAt,
  isJsonObject,
  parseJson,
  pathOf,
  type Autoscaler,
  type Json,
  type KubeObject,
  type Resource,
  type Scale,
} from "#kube";
import type { KubeClient, KubeError } from "#kube-client";

export type Target = { readonly resource: Resource; readonly scale: Scale };

export async function readTarget(client: KubeClient, { metadata: { namespace }, spec }: Autoscaler): Promise<Result<Target, string>> {
  const { apiVersion = "v1", kind, name } = spec.scaleTargetRef;
  const resource = await findResource(client, apiVersion, kind);
  if (!resource.ok) return resource;
  const read = await readJson(client, pathOf(resource.value, { namespace, name, subresource: "scale" }));
  if (!read.ok) return read;
  // the server's response is a Scale, which has this shape
  return isJsonObject(read.value) ? ok({ resource: resource.value, scale: read.value as unknown as Scale }) : err("the answer is no Scale");
}

/** The reference has a kind, the path needs a plural: discovery has both. */
async function findResource(client: KubeClient, apiVersion: string, kind: string): Promise<Result<Resource, string>> {
  const slash = apiVersion.indexOf("/");
  const [group, version] = slash < 0 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
  const listed = await readJson(client, group === "" ? `/api/${version}` : `/apis/${group}/${version}`);
  const none = `no matches for kind "${kind}" in version "${apiVersion}"`;
  if (!listed.ok) return err(none);
  const resources = fieldAt(listed.value, "resources");
  const found = (Array.isArray(resources) ? (resources as readonly Json[]) : []).find(
    (one) => field(one, "kind") === kind && !isSubresource(field(one, "name")),
  );
  const plural = field(found, "name");
  return typeof plural === "string" ? ok(defineResource<KubeObject>({ group, version, kind, plural, namespaced: true })) : err(none);
}

function isSubresource(name: Json | undefined): boolean {
  return typeof name !== "string" || name.includes("/");
}

async function readJson(client: KubeClient, path: string): Promise<Result<Json, string>> {
  const text = await client.raw(path);
  return text.ok ? parseJson(text.value) : err(text.error.message);
}

export async function writeTarget(client: KubeClient, { resource, scale }: Target, replicas: number): Promise<Result<unknown, KubeError>> {
  return client.update(resource, { ...scale, spec: { ...scale.spec, replicas } } as KubeObject, { subresource: "scale" });
}
