/**
 * JSON as CEL values without a schema, for `object`, `params` and `request` of admission expressions.
 *
 * A number without a fraction is an int, as in the real server's JSON decoder. Values are made on first access: most expressions read only a
 * small part of an object.
 */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { failure, NO_SUCH_OVERLOAD, type CelList, type CelMap, type CelValue } from "#cel";

const INT64_LIMIT = 2 ** 63;

export function jsonValue(json: Json): CelValue {
  if (typeof json === "number") return numberValue(json);
  if (json === null || typeof json !== "object") return json;
  return isJsonObject(json) ? new JsonMap(json) : new JsonList(json);
}

function numberValue(json: number): CelValue {
  return Number.isInteger(json) && json >= -INT64_LIMIT && json < INT64_LIMIT ? BigInt(json) : json;
}

/** Nested values are made once: a loop that looks up every key of a map must not make the map again each time. */
export class JsonMap implements CelMap {
  readonly kind = "map";
  readonly #json: JsonObject;
  #values: Map<string, CelValue> | undefined;
  #names: readonly string[] | undefined;

  constructor(json: JsonObject) {
    this.#json = json;
  }

  get size(): number {
    return this.keys().length;
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== "string") return NO_SUCH_OVERLOAD;
    const value = field(this.#json, key);
    if (value === undefined || value === null || typeof value !== "object") return value === undefined ? undefined : jsonValue(value);
    const known = this.#values?.get(key);
    if (known !== undefined) return known;
    const made = jsonValue(value);
    (this.#values ??= new Map()).set(key, made);
    return made;
  }

  keys(): readonly string[] {
    return (this.#names ??= namesIn(this.#json));
  }
}

function namesIn(json: JsonObject): readonly string[] {
  const names = Object.keys(json);
  return Object.values(json).includes(undefined) ? names.filter((name) => json[name] !== undefined) : names;
}

class JsonList implements CelList {
  readonly kind = "list";
  readonly size: number;
  readonly #json: readonly Json[];
  readonly #values: CelValue[] = [];

  constructor(json: readonly Json[]) {
    this.#json = json;
    this.size = json.length;
  }

  get(position: number): CelValue {
    if (position < 0 || position >= this.size) return failure(`index out of bounds: ${position}`);
    const value = this.#json[position] ?? null;
    if (value === null || typeof value !== "object") return jsonValue(value);
    return (this.#values[position] ??= jsonValue(value));
  }
}
