/** Types of CEL, and their texts in cel-go's messages. */
export type TypeKind =
  | "dyn"
  | "error"
  | "null"
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "timestamp"
  | "duration"
  | "list"
  | "map"
  | "struct"
  | "opaque"
  | "type"
  | "parameter";

export type CelType = { readonly kind: TypeKind; readonly name: string; readonly parameters: readonly CelType[] };

function simple(kind: TypeKind, name: string): CelType {
  return { kind, name, parameters: [] };
}

export const DYN = simple("dyn", "dyn");
export const ERROR = simple("error", "!error!");
export const NULL = simple("null", "null");
export const BOOL = simple("bool", "bool");
export const INT = simple("int", "int");
export const UINT = simple("uint", "uint");
export const DOUBLE = simple("double", "double");
export const STRING = simple("string", "string");
export const BYTES = simple("bytes", "bytes");
export const TIMESTAMP = simple("timestamp", "google.protobuf.Timestamp");
export const DURATION = simple("duration", "google.protobuf.Duration");
export const TYPE = simple("type", "type");

export const QUANTITY = simple("struct", "kubernetes.Quantity");
export const URL_TYPE = simple("struct", "kubernetes.URL");
export const SEMVER = simple("struct", "kubernetes.Semver");
export const NAMED_FORMAT = simple("struct", "kubernetes.NamedFormat");
export const AUTHORIZER = simple("struct", "kubernetes.authorization.Authorizer");
export const PATH_CHECK = simple("struct", "kubernetes.authorization.PathCheck");
export const GROUP_CHECK = simple("struct", "kubernetes.authorization.GroupCheck");
export const RESOURCE_CHECK = simple("struct", "kubernetes.authorization.ResourceCheck");
export const DECISION = simple("struct", "kubernetes.authorization.Decision");
export const IP = simple("opaque", "net.IP");
export const CIDR = simple("opaque", "net.CIDR");

export function listType(of: CelType): CelType {
  return { kind: "list", name: "list", parameters: [of] };
}

export function mapType(key: CelType, value: CelType): CelType {
  return { kind: "map", name: "map", parameters: [key, value] };
}

export function optionalType(of: CelType): CelType {
  return { kind: "opaque", name: "optional_type", parameters: [of] };
}

export function typeOfType(of: CelType): CelType {
  return { kind: "type", name: "type", parameters: [of] };
}

export function structType(name: string): CelType {
  return simple("struct", name);
}

export function parameterType(name: string): CelType {
  return simple("parameter", name);
}

export function isOptional(type: CelType): boolean {
  return type.kind === "opaque" && type.name === "optional_type";
}

export function isDynOrError(type: CelType): boolean {
  return type.kind === "dyn" || type.kind === "error";
}

export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.name !== b.name || a.parameters.length !== b.parameters.length) return false;
  return a.parameters.every((parameter, position) => sameType(parameter, b.parameters[position] ?? ERROR));
}

const SPOKEN: ReadonlyMap<TypeKind, string> = new Map<TypeKind, string>([
  ["timestamp", "timestamp"],
  ["duration", "duration"],
  ["null", "null"],
]);

export function formatType(type: CelType): string {
  const spoken = SPOKEN.get(type.kind);
  if (spoken !== undefined) return spoken;
  return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(formatType).join(", ")})`;
}

/** "(string, int)", or "string.(int)" for a method. */
export function formatArguments(types: readonly CelType[], isMember: boolean): string {
  const [target, ...rest] = types;
  if (!isMember || target === undefined) return `(${types.map(formatType).join(", ")})`;
  return `${formatType(target)}.(${rest.map(formatType).join(", ")})`;
}
