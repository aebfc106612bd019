/**
 * Where the values of secrets come from when there is no cluster: a given map, and Secrets among the documents.
 *
 * No message here holds a value. A path is no secret: `postgres/main-db/password` is key `password` of Secret `postgres-main-db`.
 */
import { bytesOfBase64, err, ok, reveal, sensitive, textOfBytes, type Sensitive } from "#base";
import { fieldAt, isJsonObject, keyOf, keyText, type KubeObject } from "#kube";
import { isShareable, secretNotShared, secretOfPath, type SecretStore } from "#service-compiler";

/** By `namespace/name`, then by key. */
type SecretObjects = ReadonlyMap<string, SecretObject>;

type SecretObject = {
  readonly labels: KubeObject["metadata"]["labels"];
  /** undefined: bytes that are no text. */
  readonly values: ReadonlyMap<string, Sensitive<string> | undefined>;
};

export type SecretSources = {
  readonly given: ReadonlyMap<string, Sensitive<string>>;
  readonly inObjects: SecretObjects;
  /** Secrets without a value are marked. */
  readonly placeholders: boolean;
  /** Called for each lookup that no Secret object answers. */
  readonly onSecret?: ((use: SecretUse) => void) | undefined;
};

/** A secret that a service reads, and that is in no Secret of the documents. */
export type SecretUse = {
  /** Where the service runs. */
  readonly namespace: string;
  readonly path: string;
  /** Where the service is declared. */
  readonly source: string;
  /** What was given for the path; undefined: nothing. */
  readonly value: Sensitive<string> | undefined;
};

/** How a marked secret begins, as it is and as it stands in a URL. */
export const PLACEHOLDER_MARKS = ["<secret ", encodeURIComponent("<secret ")] as const;

export function readSecrets(secrets: readonly { readonly object: KubeObject }[]): SecretObjects {
  return new Map(secrets.map(({ object }) => [keyText(keyOf(object)), { labels: object.metadata.labels, values: valuesOf(object) }]));
}

/** Text in base64 under `data`, as it is under `stringData`. */
function valuesOf(secret: KubeObject): SecretObject["values"] {
  const values = new Map<string, Sensitive<string> | undefined>();
  for (const [key, text] of entriesOf(fieldAt(secret, "data"))) {
    const bytes = bytesOfBase64(text);
    const decoded = bytes.ok ? textOfBytes(bytes.value) : bytes;
    if (bytes.ok) values.set(key, decoded.ok ? sensitive(decoded.value) : undefined);
  }
  for (const [key, text] of entriesOf(fieldAt(secret, "stringData"))) values.set(key, sensitive(text));
  return values;
}

function entriesOf(value: unknown): readonly (readonly [string, string])[] {
  const entries = Object.entries(isJsonObject(value) ? value : {});
  return entries.flatMap(([key, text]) => (typeof text === "string" ? [[key, text] as const] : []));
}

export function secretStore({ given, inObjects, placeholders, onSecret }: SecretSources): SecretStore {
  return (namespace, path, source) => {
    const { name, key } = secretOfPath(path);
    const object = inObjects.get(`${namespace}/${name}`);
    if (!given.has(path) && object !== undefined && source !== namespace && !isShareable(object.labels, source))
      return err(secretNotShared(namespace, name, source));
    if (object?.values.has(key) !== true) onSecret?.({ namespace, path, source, value: given.get(path) });
    const value = given.get(path) ?? object?.values.get(key);
    if (value !== undefined) return ok(reveal(value));
    if (object?.values.has(key) === true)
      return err(
        `key '${key}' of Secret ${namespace}/${name} is no UTF-8 text, so no template can hold it\nmount it as a volume (secret:${name})`,
      );
    if (placeholders) return ok(`${PLACEHOLDER_MARKS[0]}${path}>`);
    return err(
      `there is no secret '${path}'${whatThereIs(inObjects, { namespace, name, key })}\n${HOW_TO_GIVE(path, { namespace, name, key })}`,
    );
  };
}

type Wanted = { readonly namespace: string; readonly name: string; readonly key: string };

function whatThereIs(secrets: SecretObjects, { namespace, name, key }: Wanted): string {
  if (secrets.has(`${namespace}/${name}`)) return `: Secret ${namespace}/${name} has no key '${key}'`;
  const elsewhere = [...secrets].filter(([id, { values }]) => id.endsWith(`/${name}`) && values.has(key)).map(([id]) => id);
  return elsewhere.length === 0
    ? ""
    : `: Secret ${elsewhere.join(", ")} has it, but secrets are read in ${namespace}, where the workload runs`;
}

const HOW_TO_GIVE = (path: string, { namespace, name, key }: Wanted) =>
  `give it with --secrets FILE (a line "${path}: …"), with key ${key} of a Secret ${name} in namespace ${namespace} among the files, or take --placeholder-secrets`;
