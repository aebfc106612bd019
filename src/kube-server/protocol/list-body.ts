/**
 * The body of a list: a head and many parts, serialized one after the other while it is sent.
 *
 * The whole value is built only for callers in this process, never for a socket.
 */
import type { JsonObject, KubeObject } from "#kube";
import { formatGoYaml } from "./go-yaml.ts";
import type { RecentTexts } from "./recent-texts.ts";
import type { ApiBody } from "./request.ts";

export type ListParts = {
  /** All other fields. */
  readonly head: JsonObject | { readonly [name: string]: unknown };
  /** The field that holds the parts. */
  readonly name: "items" | "rows";
  readonly objects: readonly KubeObject[];
  readonly partOf: (object: KubeObject) => unknown;
  /** Cached JSON of the objects: stored objects never change, and are listed repeatedly. */
  readonly remembered?: RecentTexts | undefined;
};

export function jsonBody(parts: ListParts, pretty: boolean): ApiBody {
  return {
    kind: "json",
    get value() {
      return valueOf(parts);
    },
    pretty,
    texts: () => (pretty ? prettyTexts(parts) : plainTexts(parts)),
  };
}

export function yamlBody(parts: ListParts): ApiBody {
  return {
    kind: "text",
    get text() {
      return formatGoYaml(valueOf(parts));
    },
    texts: () => yamlTexts(parts),
  };
}

function valueOf({ head, name, objects, partOf }: ListParts): unknown {
  return { ...head, [name]: objects.map(partOf) };
}

function* plainTexts({ head, name, objects, partOf, remembered }: ListParts): Generator<string, void> {
  yield `${JSON.stringify(head).slice(0, -1)},"${name}":[`;
  let comma = "";
  for (const object of objects) {
    const print = () => JSON.stringify(partOf(object));
    if (comma !== "") yield comma;
    yield remembered === undefined ? print() : remembered.of(object, print);
    comma = ",";
  }
  yield "]}\n";
}

function* prettyTexts({ head, name, objects, partOf }: ListParts): Generator<string, void> {
  yield `${JSON.stringify(head, null, 2).slice(0, -"\n}".length)},\n  "${name}": [`;
  let comma = "";
  for (const object of objects) {
    yield `${comma}\n    ${JSON.stringify(partOf(object), null, 2).replaceAll("\n", "\n    ")}`;
    comma = ",";
  }
  yield objects.length === 0 ? "]\n}" : "\n  ]\n}";
}

/** Fields are sorted, and the items of a list are not indented. */
function* yamlTexts({ head, name, objects, partOf }: ListParts): Generator<string, void> {
  const fields = new Map<string, unknown>(Object.entries(head));
  for (const field of [...fields.keys(), name].toSorted()) {
    if (field !== name) yield formatGoYaml({ [field]: fields.get(field) });
    else if (objects.length === 0) yield `${name}: []\n`;
    else yield `${name}:\n`;
    if (field === name) for (const object of objects) yield formatGoYaml([partOf(object)]);
  }
}
