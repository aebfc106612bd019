/** The type of a value, and whether it matches a declared one. */
import {
  AUTHORIZER,
  BOOL,
  BYTES,
  CIDR,
  DECISION,
  DOUBLE,
  DURATION,
  DYN,
  GROUP_CHECK,
  INT,
  IP,
  listType,
  mapType,
  NAMED_FORMAT,
  NULL,
  optionalType,
  PATH_CHECK,
  QUANTITY,
  RESOURCE_CHECK,
  SEMVER,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
  URL_TYPE,
  type CelType,
} from "./types.ts";
import {
  CelDuration,
  CelFailure,
  CelOpaque,
  CelOptional,
  CelPreserved,
  CelStruct,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  isList,
  isMap,
  type CelValue,
  type OpaqueContent,
} from "./values.ts";

const ANY_LIST = listType(DYN);
const ANY_MAP = mapType(DYN, DYN);
const ANY_OPTIONAL = optionalType(DYN);

const OPAQUE: Readonly<Record<OpaqueContent["of"], CelType>> = {
  quantity: QUANTITY,
  ip: IP,
  cidr: CIDR,
  url: URL_TYPE,
  semver: SEMVER,
  format: NAMED_FORMAT,
  authorizer: AUTHORIZER,
  pathCheck: PATH_CHECK,
  groupCheck: GROUP_CHECK,
  resourceCheck: RESOURCE_CHECK,
  decision: DECISION,
};

export function typeOfValue(value: CelValue): CelType {
  if (value === null) return NULL;
  switch (typeof value) {
    case "boolean":
      return BOOL;
    case "bigint":
      return INT;
    case "number":
      return DOUBLE;
    case "string":
      return STRING;
    default:
      return typeOfObject(value);
  }
}

function typeOfObject(value: Exclude<CelValue, null | boolean | bigint | number | string>): CelType {
  if (isList(value)) return ANY_LIST;
  if (isMap(value)) return ANY_MAP;
  if (value instanceof Uint8Array) return BYTES;
  if (value instanceof CelUint) return UINT;
  if (value instanceof CelTimestamp) return TIMESTAMP;
  if (value instanceof CelDuration) return DURATION;
  if (value instanceof CelOptional) return ANY_OPTIONAL;
  if (value instanceof CelTypeValue) return TYPE;
  if (value instanceof CelStruct) return value.type;
  return value instanceof CelOpaque ? OPAQUE[value.content.of] : DYN;
}

/** Of a list only the first item is checked. */
export function accepts(type: CelType, value: CelValue): boolean {
  if (type.kind === "dyn" || type.kind === "parameter") return true;
  const actual = typeOfValue(value);
  if (actual.kind !== type.kind || actual.name !== type.name) return false;
  const [element] = type.parameters;
  return !isList(value) || value.size === 0 || element === undefined || accepts(element, value.get(0));
}

/** As `type(x)` prints it. */
export function typeName(value: CelValue): string {
  if (value instanceof CelFailure || value instanceof CelPreserved) return "unknown";
  return value === null ? "null_type" : typeOfValue(value).name;
}
