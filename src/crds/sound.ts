/**
 * A fast reader of valid objects, derived from the same zod schema: nearly every object is valid, and zod takes several times as long.
 *
 * It returns the value that zod would return, or UNSURE; then zod parses the object and reports the errors. Only the traversal is implemented here; the
 * checks are zod's own. A property test checks that both return the same.
 */
import * as z from "zod";
import { once } from "#base";
import { isJsonObject } from "#kube";
import { NOT_PLAIN, plainCopy } from "./plain.ts";

export const UNSURE = Symbol("needs zod");

type Reader = (value: unknown) => unknown;

/** Reads any value; `undefined` means an absent field. */
export function soundReader(schema: z.core.$ZodType): Reader {
  return checked(schema, walker(schema as z.core.$ZodTypes));
}

function walker(schema: z.core.$ZodTypes): Reader {
  const { def } = schema._zod;
  switch (def.type) {
    case "string":
    case "boolean":
      return (value) => (typeof value === def.type ? value : UNSURE);
    case "number":
      return (value) => (Number.isFinite(value) ? value : UNSURE);
    case "unknown":
      return copied;
    case "enum":
      return among(Object.values(def.entries));
    case "literal":
      return among(def.values);
    case "object":
      return objectReader(def.shape);
    case "record":
      return isAnyString(def.keyType) ? recordReader(soundReader(def.valueType)) : unsure;
    case "array":
      return arrayReader(soundReader(def.element));
    case "union":
      return firstOf(def.options.map(soundReader));
    case "optional":
      return def.innerType._zod.def.type === "default" ? unsure : optional(soundReader(def.innerType));
    case "default": {
      const given = soundReader(def.innerType);
      return (value) => (value === undefined ? def.defaultValue : given(value));
    }
    case "prefault": {
      const given = soundReader(def.innerType);
      return (value) => given(value === undefined ? def.defaultValue : value);
    }
    case "lazy": {
      const inner = once(() => soundReader(def.getter()));
      return (value) => inner()(value);
    }
    default:
      return unsure;
  }
}

const unsure: Reader = () => UNSURE;

const copied: Reader = (value) => {
  const copy = plainCopy(value);
  return copy === NOT_PLAIN ? UNSURE : copy;
};

function among(values: readonly unknown[]): Reader {
  return (value) => (values.includes(value) ? value : UNSURE);
}

function optional(read: Reader): Reader {
  return (value) => (value === undefined ? undefined : read(value));
}

/**
 * The result has the fields in the schema's order, like zod's; objects with unknown fields are left to zod. A field's reader is created at its
 * first use: most objects use few fields.
 */
function objectReader(shape: Readonly<Record<string, z.core.$ZodType>>): Reader {
  const fields = Object.entries(shape).map(([name, schema]) => ({ name, reader: once(() => soundReader(schema)) }));
  return (value) => {
    if (!isJsonObject(value)) return UNSURE;
    const read: Record<string, unknown> = {};
    let unread = Object.keys(value).length;
    for (const { name, reader } of fields) {
      const given = Object.hasOwn(value, name);
      if (given) unread -= 1;
      const item = given && value[name] === undefined ? UNSURE : reader()(given ? value[name] : undefined);
      if (item === UNSURE) return UNSURE;
      if (item !== undefined) read[name] = item;
    }
    return unread === 0 ? read : UNSURE;
  };
}

function isAnyString(schema: z.core.$ZodType): boolean {
  return schema._zod.def.type === "string" && checksOf(schema).length === 0;
}

function recordReader(read: Reader): Reader {
  return (value) => {
    if (!isJsonObject(value)) return UNSURE;
    const copy: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      const item = name === "__proto__" || value[name] === undefined ? UNSURE : read(value[name]);
      if (item === UNSURE) return UNSURE;
      copy[name] = item;
    }
    return copy;
  };
}

function arrayReader(read: Reader): Reader {
  return (value) => {
    if (!Array.isArray(value)) return UNSURE;
    const items: unknown[] = [];
    for (const given of value) {
      const item = given === undefined ? UNSURE : read(given);
      if (item === UNSURE) return UNSURE;
      items.push(item);
    }
    return items;
  };
}

function firstOf(readers: readonly Reader[]): Reader {
  return (value) => {
    for (const read of readers) {
      const item = read(value);
      if (item !== UNSURE) return item;
    }
    return UNSURE;
  };
}

/** zod's own checks, run as zod runs them. A schema such as `z.int()` is a check itself. */
function checked(schema: z.core.$ZodType, walk: Reader): Reader {
  const checks = checksOf(schema);
  if (checks.length === 0) return walk;
  return (value) => {
    const read = walk(value);
    if (read === UNSURE) return UNSURE;
    const payload: z.core.ParsePayload = { value: read, issues: [] };
    for (const check of checks) {
      if (check._zod.def.when?.(payload) === false) continue;
      const later = check._zod.check(payload);
      if (later instanceof Promise || payload.issues.length > 0) return UNSURE;
    }
    return payload.value;
  };
}

function checksOf(schema: z.core.$ZodType): readonly z.core.$ZodCheck<unknown>[] {
  const own = schema._zod.traits.has("$ZodCheck") ? [schema as unknown as z.core.$ZodCheck<unknown>] : [];
  return [...own, ...((schema._zod.def.checks ?? []) as unknown as readonly z.core.$ZodCheck<unknown>[])];
}
