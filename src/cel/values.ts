/**
 * Values of CEL at run time. An int is a bigint and a double is a number, so the two are distinct; values without a JavaScript type are small
 * classes.
 *
 * A failure is a value too: `||` and `&&` may absorb it, as the language defines. A fatal one (the budget is used up) is never absorbed.
 */
import type { Cidr, IpAddress } from "./formats/ip-addresses.ts";
import type { Instant } from "./formats/timestamps.ts";
import type { Meter } from "./meter.ts";
import type { CelType } from "./types.ts";

export type CelConstant = null | boolean | bigint | number | string | Uint8Array | CelUint;

export type CelValue =
  | CelConstant
  | CelTimestamp
  | CelDuration
  | CelList
  | CelMap
  | CelOptional
  | CelTypeValue
  | CelOpaque
  | CelPreserved
  | CelStruct
  | CelFailure;

export class CelUint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

export class CelTimestamp {
  readonly instant: Instant;
  constructor(instant: Instant) {
    this.instant = instant;
  }
}

export class CelDuration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class CelOptional {
  readonly value: CelValue | undefined;
  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

export const NONE = new CelOptional(undefined);

export class CelTypeValue {
  readonly type: CelType;
  constructor(type: CelType) {
    this.type = type;
  }
}

/** Values of Kubernetes' own types; their content belongs to their library. */
export type OpaqueContent =
  | { readonly of: "quantity"; readonly nanos: bigint; readonly text: string }
  | { readonly of: "ip"; readonly address: IpAddress }
  | { readonly of: "cidr"; readonly cidr: Cidr }
  | { readonly of: "url"; readonly text: string; readonly url: import("./formats/go-net.ts").GoUrl }
  | { readonly of: "semver"; readonly version: import("./semantic-version.ts").SemanticVersion }
  | { readonly of: "format"; readonly name: string }
  | import("./authorizer.ts").AuthorizationContent;

export class CelOpaque {
  readonly content: OpaqueContent;
  constructor(content: OpaqueContent) {
    this.content = content;
  }
}

/** A value under x-kubernetes-preserve-unknown-fields: it can be compared, and nothing else. */
export class CelPreserved {
  readonly json: unknown;
  constructor(json: unknown) {
    this.json = json;
  }
}

/** A message that an expression has made: `Object.spec{replicas: 1}`. */
export class CelStruct {
  readonly type: CelType;
  readonly fields: ReadonlyMap<string, CelValue>;
  constructor(type: CelType, fields: ReadonlyMap<string, CelValue>) {
    this.type = type;
    this.fields = fields;
  }
}

export class CelFailure {
  readonly message: string;
  readonly fatal: boolean;
  constructor(message: string, fatal = false) {
    this.message = message;
    this.fatal = fatal;
  }
}

export const NO_SUCH_OVERLOAD = new CelFailure("no such overload");

export interface CelList {
  readonly kind: "list";
  readonly size: number;
  get(position: number): CelValue;
  /** Undefined: compared element by element. Lists of type set and map have their own comparison. */
  readonly equalTo?: (other: CelList, meter: Meter) => boolean | CelFailure;
  readonly addAll?: (other: CelList, meter: Meter) => CelValue;
  /** Of a list of texts that is a literal: the same, for searching. */
  readonly texts?: ReadonlySet<string>;
}

export interface CelMap {
  readonly kind: "map";
  readonly size: number;
  /** Undefined for a missing key. */
  get(key: CelValue): CelValue | undefined;
  keys(): readonly CelValue[];
  /** Undefined: compared entry by entry. */
  readonly equalTo?: (other: CelMap, meter: Meter) => boolean | CelFailure;
}

export function isList(value: CelValue): value is CelList {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "list";
}

export function isMap(value: CelValue): value is CelMap {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "map";
}

export function failure(message: string): CelFailure {
  return new CelFailure(message);
}

export function listOf(items: readonly CelValue[]): CelList {
  return { kind: "list", size: items.length, get: (position) => itemAt(items, position) };
}

/** A list that an expression contains as a literal: made once, and searched without a comparison of every text, as in cel-go. */
export function constantList(items: readonly CelValue[]): CelList {
  const texts = items.filter((item) => typeof item === "string");
  return texts.length === items.length ? { ...listOf(items), texts: new Set(texts) } : listOf(items);
}

/** Null is an ordinary item. */
export function itemAt(items: readonly CelValue[], position: number): CelValue {
  const item = items[position];
  return item === undefined ? failure(`index out of bounds: ${position}`) : item;
}

export function itemsOf(list: CelList): readonly CelValue[] {
  const items: CelValue[] = [];
  for (let position = 0; position < list.size; position++) items.push(list.get(position));
  return items;
}
