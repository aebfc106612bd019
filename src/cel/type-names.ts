/** The types that an expression can name, and the types of its constants. */
import {
  BOOL,
  BYTES,
  CIDR,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  IP,
  listType,
  mapType,
  NULL,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
  type CelType,
} from "./types.ts";
import { CelUint, type CelConstant } from "./values.ts";

export const TYPE_NAMES: ReadonlyMap<string, CelType> = new Map([
  ["bool", BOOL],
  ["int", INT],
  ["uint", UINT],
  ["double", DOUBLE],
  ["string", STRING],
  ["bytes", BYTES],
  ["null_type", NULL],
  ["list", listType(DYN)],
  ["map", mapType(DYN, DYN)],
  ["type", TYPE],
  ["google.protobuf.Timestamp", TIMESTAMP],
  ["google.protobuf.Duration", DURATION],
  ["net.IP", IP],
  ["net.CIDR", CIDR],
]);

export function constantType(value: CelConstant): CelType {
  if (value === null) return NULL;
  if (value instanceof Uint8Array) return BYTES;
  if (value instanceof CelUint) return UINT;
  if (typeof value === "bigint") return INT;
  if (typeof value === "number") return DOUBLE;
  return typeof value === "boolean" ? BOOL : STRING;
}
