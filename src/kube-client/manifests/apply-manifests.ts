/**
 * Server-side apply of a stream of manifests: definitions of kinds first, then namespaces, then the rest in its order. An object waits until the
 * definition of its kind is established, so that one call is enough for a stream that has both.
 */
import { err, ok, sleep, type Clock, type Result } from "#base";
import { customResourceDefinitions, field, fieldAt, isJsonObject, parseYaml, type Json, type KubeObject, type Resource } from "#kube";
import type { CallOptions, KubeClient } from "../ports.ts";
import { ServedKinds } from "./served-kinds.ts";

export type ApplyManifests = {
  readonly client: KubeClient;
  readonly call: CallOptions;
  readonly force: boolean;
  readonly fieldManager: string;
  /** Of objects without one. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly onApplied: (resource: Resource, name: string) => void;
};

const CHECK_EVERY_MS = 100;
const ESTABLISHED_WITHIN = 300;
const SERVED_WITHIN = 50;
const MAX_OBJECTS = 10_000;

/** A stream of YAML. */
export async function applyManifests(text: string, options: ApplyManifests): Promise<Result<void, string>> {
  const objects = readManifests(text);
  return objects.ok ? applyObjects(objects.value, options) : objects;
}

/** Stops at the first error. */
export async function applyObjects(objects: readonly KubeObject[], options: ApplyManifests): Promise<Result<void, string>> {
  const kinds = new ServedKinds(options.client, options.call);
  const definitions = objects.filter(isDefinition);
  const groups = new Set(definitions.map((definition) => fieldAt(definition, "spec", "group")));
  for (const definition of definitions) {
    const applied = await applyOne(options, { kinds, groups }, definition);
    if (!applied.ok) return applied;
  }
  for (const { metadata } of definitions) {
    const established = await untilEstablished(options, metadata.name);
    if (!established.ok) return established;
  }
  for (const object of namespacesFirst(objects.filter((one) => !isDefinition(one)))) {
    const applied = await applyOne(options, { kinds, groups }, object);
    if (!applied.ok) return applied;
  }
  return ok(undefined);
}

/** Lists are replaced by their items. */
function readManifests(text: string): Result<readonly KubeObject[], string> {
  const parsed = parseYaml(text);
  if (!parsed.ok) return err(`the manifests are not valid YAML: ${parsed.error.message}`);
  const documents = parsed.value.flatMap((document) => {
    const items = field(document, "items");
    return field(document, "kind") === "List" && Array.isArray(items) ? items : [document];
  });
  if (documents.length > MAX_OBJECTS) return err(`the manifests have more than ${MAX_OBJECTS} objects`);
  const wrong = documents.findIndex((document) => !isObject(document));
  if (wrong >= 0) return err(`manifest ${wrong + 1}: must have apiVersion, kind and metadata.name`);
  return ok(documents.filter(isObject));
}

function isObject(document: Json): document is Json & KubeObject {
  const texts = [field(document, "apiVersion"), field(document, "kind"), fieldAt(document, "metadata", "name")];
  return isJsonObject(document) && texts.every((text) => typeof text === "string" && text !== "");
}

function isDefinition({ kind, apiVersion }: KubeObject): boolean {
  return kind === "CustomResourceDefinition" && apiVersion.startsWith("apiextensions.k8s.io/");
}

function namespacesFirst(objects: readonly KubeObject[]): readonly KubeObject[] {
  const isNamespace = ({ kind, apiVersion }: KubeObject) => kind === "Namespace" && apiVersion === "v1";
  return [...objects.filter(isNamespace), ...objects.filter((object) => !isNamespace(object))];
}

/** `groups`: of the definitions in the stream. */
type Kinds = { readonly kinds: ServedKinds; readonly groups: ReadonlySet<unknown> };

async function applyOne(options: ApplyManifests, kinds: Kinds, object: KubeObject): Promise<Result<void, string>> {
  const { client, call, force, fieldManager, namespace, onApplied } = options;
  const { name } = object.metadata;
  const resource = await untilServed(options, kinds, object);
  if (!resource.ok) return resource;
  const placed = resource.value.namespaced
    ? { ...object, metadata: { ...object.metadata, namespace: object.metadata.namespace ?? namespace } }
    : object;
  const applied = await client.apply(resource.value, placed, { ...call, fieldManager, force });
  if (!applied.ok) return err(`${object.kind} ${name} was refused: ${applied.error.message}`);
  onApplied(resource.value, name);
  return ok(undefined);
}

/** Discovery may list a new kind a little after its definition is established. */
async function untilServed(
  { clock, call }: ApplyManifests,
  { kinds, groups }: Kinds,
  { apiVersion, kind }: KubeObject,
): Promise<Result<Resource, string>> {
  const checks = groups.has(apiVersion.split("/")[0]) ? SERVED_WITHIN : 1;
  for (let check = 0; check < checks; check += 1) {
    if (check > 0 && !(await sleep(clock, CHECK_EVERY_MS, call.signal ?? new AbortController().signal))) break;
    const found = await kinds.byKind(apiVersion, kind);
    if (!found.ok) return found;
    if (found.value !== undefined) return ok(found.value);
  }
  return err(`the server has no kind ${kind} in ${apiVersion}; apply its definition first`);
}

async function untilEstablished({ client, clock, call }: ApplyManifests, name: string): Promise<Result<void, string>> {
  for (let check = 0; check < ESTABLISHED_WITHIN; check += 1) {
    const found = await client.get(customResourceDefinitions, { name }, call);
    if (!found.ok) return err(`CustomResourceDefinition ${name} cannot be read: ${found.error.message}`);
    const conditions = fieldAt(found.value, "status", "conditions");
    const isEstablished = (condition: Json) => field(condition, "type") === "Established" && field(condition, "status") === "True";
    if (Array.isArray(conditions) && conditions.some(isEstablished)) return ok(undefined);
    if (!(await sleep(clock, CHECK_EVERY_MS, call.signal ?? new AbortController().signal))) break;
  }
  return err(`CustomResourceDefinition ${name} was not established in time`);
}
