/**
 * Content negotiation: the form of the response (JSON or YAML; whole, as a Table, or metadata only) and of the request body.
 *
 * Protobuf is decoded (Go clients send it) but never written: a client that accepts nothing else gets a 406 with a real server's list of types.
 */
import { memoize, ok, type Result } from "#base";
import { notAcceptable, refuse, unsupportedMediaType, type Failure } from "./status.ts";

export type OutputForm = "json" | "yaml";
export type Transform = "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
export type Output = {
  readonly form: OutputForm;
  readonly transform: Transform | undefined;
  /** The version of meta.k8s.io of a Table or PartialObjectMetadata. */
  readonly version: string;
  /** The value of `Content-Type`. */
  readonly contentType: string;
};

const FORMS: ReadonlyMap<string, OutputForm> = new Map([
  ["application/json", "json"],
  ["application/*", "json"],
  ["*/*", "json"],
  ["application/yaml", "yaml"],
]);
const JSON_TYPE = "application/json";
const SUPPORTED = [JSON_TYPE, "application/yaml"];
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const META_VERSIONS = new Set(["v1", "v1beta1"]);
const TRANSFORMS: ReadonlySet<string> = new Set<Transform>(["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]);

export type Clause = { readonly type: string; readonly parameters: ReadonlyMap<string, string>; readonly quality: number };

/** The clauses of an Accept header, best first; equal quality keeps the order of the header. Clients send the same few headers. */
export const parseAccept = memoize({ limit: 200 }, (header: string): readonly Clause[] => {
  const clauses = header.split(",").map((text) => {
    const [type = "", ...rest] = text.split(";").map((part) => part.trim());
    const parameters = new Map(
      rest.map((part): [string, string] => [part.split("=")[0]?.trim() ?? "", part.slice(part.indexOf("=") + 1).trim()]),
    );
    const quality = Number(parameters.get("q") ?? 1);
    return { type: type.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 0 };
  });
  return clauses.filter(({ type }) => type !== "").toSorted((a, b) => b.quality - a.quality);
});

/** `transforms`: those that this endpoint supports. `listed`: the endpoint returns lists, so it can be watched. */
export function negotiate(accept: string, transforms: ReadonlySet<Transform>, custom: boolean, listed = true): Result<Output, Failure> {
  if (accept === JSON_TYPE || accept.trim() === "") return PLAIN_JSON;
  const clauses = parseAccept(accept);
  if (!custom && !clauses.some(({ type }) => type === "*/*" || (type !== "application/*" && FORMS.has(type))))
    return noRepresentation(listed);
  for (const clause of clauses) {
    const form = FORMS.get(clause.type);
    const output = form === undefined ? undefined : outputOf(clause, form, transforms);
    if (output !== undefined) return ok(output);
  }
  return notAcceptable([...SUPPORTED, PROTOBUF]);
}

/** The router of a real server rejects the request earlier, with its own message, and without `application/*`. It does not route custom resources. */
function noRepresentation(listed: boolean): Result<never, Failure> {
  const streams = listed ? ["application/json", PROTOBUF].map((type) => `${type};stream=watch`) : [];
  const available = [...SUPPORTED, PROTOBUF, ...streams].join(", ");
  const message = `406: Not Acceptable\n\nAvailable representations: ${available}`;
  return refuse({ code: 406, reason: "NotAcceptable", message, details: {} });
}

function plain(form: OutputForm): Output {
  return { form, transform: undefined, version: "v1", contentType: `application/${form}` };
}

/** The output of nearly all requests. */
const PLAIN_JSON = ok(plain("json"));

function outputOf({ parameters }: Clause, form: OutputForm, transforms: ReadonlySet<Transform>): Output | undefined {
  const kind = parameters.get("as");
  const stream = parameters.get("stream");
  if (stream !== undefined && stream !== "watch") return undefined;
  if (kind === undefined && !parameters.has("g") && !parameters.has("v")) return plain(form);
  const version = parameters.get("v") ?? "";
  if (kind === undefined || !isTransform(kind) || !transforms.has(kind)) return undefined;
  if (parameters.get("g") !== "meta.k8s.io" || !META_VERSIONS.has(version)) return undefined;
  return { ...plain(form), transform: kind, version };
}

function isTransform(kind: string): kind is Transform {
  return TRANSFORMS.has(kind);
}

/** The form of a body; an absent Content-Type means JSON. */
export function inputForm(contentType: string): Result<OutputForm, Failure> {
  const type = contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "" || type === "application/json") return ok("json");
  if (type === "application/yaml") return ok("yaml");
  return unsupportedMediaType([...SUPPORTED, PROTOBUF]);
}
