/**
 * A fast check whether a Score file is valid: nearly all are, and zod takes ten times as long.
 *
 * Files that it does not accept go to `schema.ts`, which reports errors. Both have the same rules; a property test
 * compares them.
 */
import { isJsonObject } from "#kube";
import { CPU, ID, MEMORY, MODE, NAME, TYPE } from "./patterns.ts";

type Check = (value: unknown) => boolean;

export function isSoundScore(value: unknown): boolean {
  return workload(value);
}

const text: Check = (value) => typeof value === "string";
const someText: Check = (value) => typeof value === "string" && value !== "";
const flag: Check = (value) => typeof value === "boolean";
const words: Check = (value) => Array.isArray(value) && value.every(text);
const port: Check = (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535;
const like = (pattern: RegExp): Check => {
  return (value) => typeof value === "string" && pattern.test(value);
};
const oneOf = (...choices: readonly string[]): Check => {
  return (value) => typeof value === "string" && choices.includes(value);
};
const NAME_LENGTH = 63;
const name: Check = (value) => typeof value === "string" && value.length <= NAME_LENGTH && NAME.test(value);

/** `others`: fields that are not in the list may have any value. */
function struct(fields: Readonly<Record<string, Check>>, required: readonly string[] = [], others = false): Check {
  const known = new Map(Object.entries(fields));
  return (value) => {
    if (!isJsonObject(value)) return false;
    for (const [key, inner] of Object.entries(value)) {
      const check = known.get(key);
      if (key === "__proto__" || (check === undefined ? !others : !check(inner))) return false;
    }
    return required.every((key) => Object.hasOwn(value, key));
  };
}

function mapOf(element: Check, key: Check = text): Check {
  return (value) => isJsonObject(value) && Object.entries(value).every(([at, inner]) => at !== "__proto__" && key(at) && element(inner));
}

const file = struct({ mode: like(MODE), source: someText, content: text, binaryContent: text, noExpand: flag });
const volume = struct({ source: text, path: text, readOnly: flag }, ["source"]);
const amounts = struct({ memory: like(MEMORY), cpu: like(CPU) });
const header = struct({ name: text, value: someText }, ["name", "value"]);
const headers: Check = (value) => Array.isArray(value) && value.every(header);
const httpGet = struct({ host: someText, scheme: oneOf("HTTP", "HTTPS"), path: text, port, httpHeaders: headers }, ["path", "port"]);
const handlers = struct({ httpGet, exec: struct({ command: words }, ["command"]) });
const probe: Check = (value) => handlers(value) && isJsonObject(value) && Object.keys(value).length > 0;

const container = struct(
  {
    image: someText,
    command: words,
    args: words,
    variables: mapOf(text),
    files: mapOf(file),
    volumes: mapOf(volume),
    before: mapOf(struct({ ready: oneOf("started", "healthy", "complete") }, ["ready"]), name),
    resources: struct({ limits: amounts, requests: amounts }),
    livenessProbe: probe,
    readinessProbe: probe,
  },
  ["image"],
);

const resource = struct(
  {
    type: like(TYPE),
    class: like(TYPE),
    id: (value) => typeof value === "string" && value.length <= NAME_LENGTH && ID.test(value),
    metadata: struct({ annotations: mapOf(text) }, [], true),
    params: mapOf((value) => value !== undefined),
  },
  ["type"],
);

const containers = mapOf(container, name);
const ports = mapOf(struct({ port, protocol: oneOf("TCP", "UDP"), targetPort: port }, ["port"]), name);

const workload = struct(
  {
    apiVersion: oneOf("score.dev/v1b1"),
    metadata: struct({ name, annotations: mapOf(text) }, ["name"], true),
    service: struct({ ports }),
    containers: (value) => containers(value) && isJsonObject(value) && Object.keys(value).length > 0,
    resources: mapOf(resource, name),
  },
  ["apiVersion", "metadata", "containers"],
);
