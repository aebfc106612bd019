/**
 * JSON as CEL values without a schema: what `object`, `params` and `request` are to an expression of admission.
 *
 * A number without a fraction is an int, as the real server reads JSON. Values are made when they are asked for: most expressions look at
 * little of an object.
 */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { failure, NO_SUCH_OVERLOAD, type CelList, type CelMap, type CelValue } from "../../custom-resources/cel/values.ts";

const INT64_LIMIT = 2 ** 63;

export function jsonValue(json: Json): CelValue {
  if (typeof json === "number") return numberValue(json);
  if (json === null || typeof json !== "object") return json;
  return isJsonObject(json) ? mapValue(json) : listValue(json);
}

function numberValue(json: number): CelValue {
  return Number.isInteger(json) && json >= -INT64_LIMIT && json < INT64_LIMIT ? BigInt(json) : json;
}

function listValue(json: readonly Json[]): CelList {
  return {
    kind: "list",
    size: json.length,
    get: (position) =>
      position >= 0 && position < json.length ? jsonValue(json[position] ?? null) : failure(`index out of bounds: ${position}`),
  };
}

function mapValue(json: JsonObject): CelMap {
  const names = Object.keys(json).filter((name) => json[name] !== undefined);
  return {
    kind: "map",
    size: names.length,
    get: (key) => {
      if (typeof key !== "string") return NO_SUCH_OVERLOAD;
      const value = field(json, key);
      return value === undefined ? undefined : jsonValue(value);
    },
    keys: () => names,
  };
}
