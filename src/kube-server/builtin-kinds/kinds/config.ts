/** ConfigMap, Secret, ServiceAccount. */
import { isJsonObject, jsonEqual, parseJson, type KubeObject } from "#kube";
import { configMapCells, secretCells } from "../cells/core.ts";
import { at, entriesAt, isTrueAt, objectAt, textAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { forbidden, immutable, invalid, invalidEach, required, tooLong, type Causes } from "../rules/causes.ts";
import { dataKey } from "../rules/formats.ts";
import { bytesExceed } from "../rules/object-meta.ts";

const MAX_SIZE = 1024 * 1024;
/** "-----BEGIN" */
const PEM_BASE64 = "LS0tLS1CRUdJ";
const FROZEN = "field is immutable when `immutable` is set";

function frozen(next: KubeObject, previous: KubeObject, names: readonly string[]): Causes {
  if (!isTrueAt(previous, "immutable")) return [];
  return [
    ...(isTrueAt(next, "immutable") ? [] : [forbidden("immutable", FROZEN)]),
    ...names.flatMap((name) => (jsonEqual(at(next, name), at(previous, name)) ? [] : [forbidden(name, FROZEN)])),
  ];
}

type Entries = ReturnType<typeof entriesAt>;

function validateKeys(entries: Entries, name: string): Causes {
  return entries.flatMap(([key]) => invalidEach(`${name}[${key}]`, key, dataKey(key)));
}

const decodedSize = (base64: string) => Math.floor((base64.length * 3) / 4) - (/=*$/.exec(base64)?.[0].length ?? 0);

function decodedSizeOf(entries: Entries): number {
  return entries.reduce((sum, [, value]) => sum + decodedSize(value), 0);
}

const configMap: KindRules = {
  onUpdate: "meta-and-spec-last",
  validate: (object) => {
    const [data, binary] = [entriesAt(object, "data"), entriesAt(object, "binaryData")];
    const both = binary.length === 0 ? [] : data.filter(([key]) => textAt(object, "binaryData", key) !== "");
    const texts = data.map(([, value]) => value);
    const tooMuch = bytesExceed(texts, MAX_SIZE - decodedSizeOf(binary));
    return [
      ...validateKeys(data, "data"),
      ...both.map(([key]) => invalid(`data[${key}]`, key, "duplicate of key present in binaryData")),
      ...validateKeys(binary, "binaryData"),
      ...(tooMuch ? [tooLong("", MAX_SIZE)] : []),
    ];
  },
  validateUpdate: (next, previous) => frozen(next, previous, ["data", "binaryData"]),
  cells: configMapCells,
};

const secret: KindRules = {
  onUpdate: "meta-and-spec-last",
  validate: (object) => [
    ...validateKeys(entriesAt(object, "data"), "data"),
    ...(decodedSizeOf(entriesAt(object, "data")) > MAX_SIZE ? [tooLong("data", MAX_SIZE)] : []),
    ...validateSecretType(object),
  ],
  validateUpdate: (next, previous) => [
    ...(textAt(next, "type") === textAt(previous, "type") ? [] : [immutable("type", textAt(next, "type"))]),
    ...frozen(next, previous, ["data"]),
  ],
  warnings: (next) => {
    const certificate = textAt(next, "data", "tls.crt");
    const readable = textAt(next, "type") !== "kubernetes.io/tls" || certificate.startsWith(PEM_BASE64);
    return readable ? [] : ["tls: failed to find any PEM data in certificate input"];
  },
  fieldSelectors: { type: (object) => textAt(object, "type") },
  cells: secretCells,
};

const SERVICE_ACCOUNT = "kubernetes.io/service-account.name";

function validateSecretType(object: KubeObject): Causes {
  const has = (key: string) => objectAt(object, "data") !== undefined && Object.hasOwn(objectAt(object, "data") ?? {}, key);
  const missing = (...keys: readonly string[]) => keys.filter((key) => !has(key)).map((key) => required(`data[${key}]`));
  switch (textAt(object, "type")) {
    case "kubernetes.io/service-account-token":
      return textAt(object, "metadata", "annotations", SERVICE_ACCOUNT) === ""
        ? [required(`metadata.annotations[${SERVICE_ACCOUNT}]`)]
        : [];
    case "kubernetes.io/dockercfg":
      return has(".dockercfg") ? validateDockerConfig(object, ".dockercfg") : missing(".dockercfg");
    case "kubernetes.io/dockerconfigjson":
      return has(".dockerconfigjson") ? validateDockerConfig(object, ".dockerconfigjson") : missing(".dockerconfigjson");
    case "kubernetes.io/basic-auth":
      return has("username") || has("password") ? [] : missing("username", "password");
    case "kubernetes.io/ssh-auth":
      return textAt(object, "data", "ssh-privatekey") === "" ? [required("data[ssh-privatekey]")] : [];
    case "kubernetes.io/tls":
      return missing("tls.crt", "tls.key");
    default:
      return [];
  }
}

/** Messages never contain the data. */
function validateDockerConfig(object: KubeObject, key: string): Causes {
  const bytes = Uint8Array.from(atob(textAt(object, "data", key)), (char) => char.codePointAt(0) ?? 0);
  const text = new TextDecoder().decode(bytes);
  const parsed = parseJson(text);
  if (parsed.ok && (isJsonObject(parsed.value) || parsed.value === null)) return [];
  return [invalid(`data[${key}]`, "<secret contents redacted>", jsonProblem(text, parsed.ok))];
}

function jsonProblem(text: string, isJson: boolean): string {
  if (isJson) return "json: cannot unmarshal value into Go value of type map[string]interface {}";
  return text.trim() === ""
    ? "unexpected end of JSON input"
    : `invalid character '${text.trim().charAt(0)}' looking for beginning of value`;
}

const ENFORCE_SECRETS = "kubernetes.io/enforce-mountable-secrets";

const serviceAccount: KindRules = {
  onUpdate: "meta-and-spec-last",
  deletion: { answersObject: true },
  warnings: (next, previous) => {
    const isSet = (object: KubeObject | undefined): boolean => object?.metadata.annotations?.[ENFORCE_SECRETS] !== undefined;
    if (!isSet(next) || isSet(previous)) return [];
    return [
      `metadata.annotations[${ENFORCE_SECRETS}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
    ];
  },
};

export const configKinds: RulesByKind = { ConfigMap: configMap, Secret: secret, ServiceAccount: serviceAccount };
