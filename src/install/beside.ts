/**
 * The Namespaces and Secrets of the file in the bootstrap cluster. Those that others have written are used if they are equal, and never changed.
 * Names of fields are shown, values of Secrets never.
 */
import { base64OfText, err, ok, type Result } from "#base";
import { describeObject, field, fieldAt, isJsonObject, ownedField, ownedFields, secrets, type KubeObject, type Resource } from "#kube";
import type { CallOptions, KubeClient, KubeError } from "#kube-client";

const FIELD_MANAGER = "lattice-install";
/** The management cluster that an object was written for. */
const INSTALLED_FOR_ANNOTATION = "lattice.dev/installed-for";

/** An object of the file that the management cluster refers to, such as the Secret of its credentials. */
export type AppliedBeside = { readonly resource: Resource; readonly object: KubeObject };

export type BesideState =
  | { readonly kind: "missing" | "same" }
  /** This installation has written it, and the file was changed since. */
  | { readonly kind: "changed" }
  /** This installation has written it, and a person has changed it since. */
  | { readonly kind: "edited"; readonly by: string }
  | { readonly kind: "foreign"; readonly differs: readonly string[] };

type BesideOptions = { readonly client: KubeClient; /** The management cluster. */ readonly name: string; readonly call: CallOptions };

export async function besideState(
  { client, name, call }: BesideOptions,
  { resource, object }: AppliedBeside,
): Promise<Result<BesideState, KubeError>> {
  const { name: own, namespace } = object.metadata;
  const live = await client.get<KubeObject>(resource, namespace === undefined ? { name: own } : { namespace, name: own }, call);
  if (live.ok) return ok(stateOf(live.value, object, name));
  return live.error.kind === "not-found" ? ok({ kind: "missing" }) : live;
}

function stateOf(live: KubeObject, object: KubeObject, name: string): BesideState {
  const found = contentOf(live);
  const wanted = contentOf(object);
  const differs = [...wanted].flatMap(([path, value]) => (found.get(path) === value ? [] : [path]));
  if (live.metadata.annotations?.[INSTALLED_FOR_ANNOTATION] !== name)
    return differs.length === 0 ? { kind: "same" } : { kind: "foreign", differs };
  const [by] = differs.flatMap((path) => editorOf(live, path) ?? []);
  if (by !== undefined) return { kind: "edited", by };
  const dropped = [...found.keys()].some((path) => !wanted.has(path) && isApplied(live, path));
  return { kind: differs.length > 0 || dropped ? "changed" : "same" };
}

const SEPARATOR = " ";

/** By "data password", "metadata labels team", "type". */
function contentOf(object: KubeObject): ReadonlyMap<string, string> {
  const texts = Object.entries(field(object, "stringData") ?? {}).map(([key, text]) => [key, base64OfText(String(text))] as const);
  const data = { ...jsonObject(field(object, "data")), ...Object.fromEntries(texts) };
  const { labels = {}, annotations = {} } = object.metadata;
  const type = field(object, "type");
  const parts: readonly (readonly [string, object])[] = [
    ["data", data],
    [["metadata", "labels"].join(SEPARATOR), labels],
    [["metadata", "annotations"].join(SEPARATOR), annotations],
  ];
  const values = parts.flatMap(([path, fields]) =>
    Object.entries(fields).map(([key, value]) => [`${path}${SEPARATOR}${key}`, String(value)] as const),
  );
  return new Map(
    [...values, ...(typeof type === "string" ? [["type", type] as const] : [])].filter(
      ([path]) => !path.endsWith(INSTALLED_FOR_ANNOTATION),
    ),
  );
}

function jsonObject(value: unknown): object {
  return isJsonObject(value) ? value : {};
}

/** The manager of a field, if it is not this installation. */
function editorOf({ metadata: { managedFields = [] } }: KubeObject, path: string): string | undefined {
  const names = path.split(SEPARATOR).map((name) => `f:${name}`);
  for (const entry of managedFields) {
    const manager = field(entry, "manager");
    if (typeof manager === "string" && manager !== FIELD_MANAGER && fieldAt(entry, "fieldsV1", ...names) !== undefined) return manager;
  }
  return undefined;
}

function isApplied(live: KubeObject, path: string): boolean {
  let owned: ReturnType<typeof ownedField> = ownedFields(live, FIELD_MANAGER);
  for (const name of path.split(SEPARATOR)) owned = owned === undefined ? undefined : ownedField(owned, name);
  return owned !== undefined;
}

/** What a person has to do about an object of others; undefined: nothing. */
export function besideProblem({ object, resource }: AppliedBeside, state: BesideState): string | undefined {
  if (state.kind !== "foreign") return undefined;
  const fields = state.differs.map((path) => path.replaceAll(SEPARATOR, ".")).join(", ");
  const use = resource.kind === secrets.kind ? "give the one of the file another name" : "write it into the file as it is";
  return `${describeObject(object)} exists in the bootstrap cluster, was not written by this installation, and differs from the file (${fields}); ${use}, remove it from the file to use the one that exists, or delete that one`;
}

export function besideNote({ object }: AppliedBeside, state: BesideState): string | undefined {
  if (state.kind !== "edited") return undefined;
  return `${describeObject(object)} was changed in the bootstrap cluster by ${state.by}: it is left as it is there, and the file is not applied to it`;
}

/** Not forced: a field that another manager has taken meanwhile is a conflict. */
export async function writeBeside(
  { client, name, call }: BesideOptions,
  { resource, object }: AppliedBeside,
): Promise<Result<void, KubeError>> {
  const annotations = { ...object.metadata.annotations, [INSTALLED_FOR_ANNOTATION]: name };
  const marked = { ...object, metadata: { ...object.metadata, annotations } };
  const applied = await client.apply<KubeObject>(resource, marked, { fieldManager: FIELD_MANAGER, force: false, ...call });
  return applied.ok ? ok(undefined) : err(applied.error);
}
