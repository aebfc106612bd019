/**
 * Values of secrets without a cluster: from a given map, and from Secrets among the documents.
 *
 * No message contains a value. A path is not secret: `postgres/main-db/password` is key `password` of Secret `postgres-main-db`.
 */
import { err, ok, reveal, type Sensitive } from "#base";
import { keyOf, keyText, type KubeObject } from "#kube";
import { isShareable, secretNotShared, secretOfPath, secretText, secretTexts, type SecretStore, type SecretTexts } from "#service-compiler";

/** By `namespace/name`, then by key. */
type SecretObjects = ReadonlyMap<string, SecretObject>;

type SecretObject = {
  readonly labels: KubeObject["metadata"]["labels"];
  readonly values: SecretTexts;
};

export type SecretSources = {
  readonly given: ReadonlyMap<string, Sensitive<string>>;
  readonly inObjects: SecretObjects;
  /** Secrets without a value get placeholders. */
  readonly placeholders: boolean;
  /** Called for each lookup without a matching Secret object. */
  readonly onSecret?: ((use: SecretUse) => void) | undefined;
};

/** A secret that a service reads, and that is in no Secret of the documents. */
export type SecretUse = {
  /** Target namespace of the service. */
  readonly namespace: string;
  readonly path: string;
  /** Source namespace of the service. */
  readonly source: string;
  /** The given value of the path; undefined: none. */
  readonly value: Sensitive<string> | undefined;
};

/** Prefix of a placeholder secret, plain and URL-encoded. */
export const PLACEHOLDER_MARKS = ["<secret ", encodeURIComponent("<secret ")] as const;

export function readSecrets(secrets: readonly { readonly object: KubeObject }[]): SecretObjects {
  return new Map(secrets.map(({ object }) => [keyText(keyOf(object)), { labels: object.metadata.labels, values: secretTexts(object) }]));
}

export function secretStore({ given, inObjects, placeholders, onSecret }: SecretSources): SecretStore {
  return (namespace, path, source) => {
    const { name, key } = secretOfPath(path);
    const object = inObjects.get(`${namespace}/${name}`);
    if (!given.has(path) && object !== undefined && source !== namespace && !isShareable(object.labels, source))
      return err(secretNotShared(namespace, name, source));
    if (object?.values.has(key) !== true) onSecret?.({ namespace, path, source, value: given.get(path) });
    const value = given.get(path);
    if (value !== undefined) return ok(reveal(value));
    const text = object === undefined ? ok(undefined) : secretText(object.values, { namespace, name, key });
    if (!text.ok) return text;
    if (text.value !== undefined) return ok(text.value);
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
  `give it with --secrets FILE (a line "${path}: …"), with key ${key} of a Secret ${name} in namespace ${namespace} among the files, or use --placeholder-secrets`;
