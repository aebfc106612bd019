/** Values with their fields where Go writes them: those of a struct as it declares them, those of a map sorted. Only seen where the server quotes an object. */
import { isJsonObject, type Json } from "#kube";
import type { GoType } from "./go-types.ts";

export function inGoOrder(type: GoType, value: Json): Json {
  if (type.kind === "list") return Array.isArray(value) ? value.map((item) => inGoOrder(type.element, item)) : value;
  if (!isJsonObject(value)) return value;
  if (type.kind === "map") {
    const names = Object.keys(value).toSorted((a, b) => (a < b ? -1 : 1));
    return Object.fromEntries(names.map((name) => [name, inGoOrder(type.element, value[name] ?? null)]));
  }
  if (type.kind !== "struct") return value;
  const fields = type.fields();
  const declared = [...fields].filter(([name]) => Object.hasOwn(value, name));
  const others = Object.entries(value).filter(([name]) => !fields.has(name));
  return Object.fromEntries([...declared.map(([name, known]) => [name, inGoOrder(known.type, value[name] ?? null)] as const), ...others]);
}
