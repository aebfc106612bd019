/**
 * A value and its value before an update. Items of a list are correlated only in a list of type map, by their keys; items of other lists have
 * no old value.
 */
import { field, isJsonObject, jsonEqual, type Json } from "#kube";
import { schemaOfField, type JsonSchema } from "../schema/json-schema.ts";

export class Correlation {
  readonly value: Json;
  readonly old: Json;
  readonly #schema: JsonSchema;
  readonly #children = new Map<string | number, Correlation | undefined>();
  #unchanged: boolean | undefined;
  #items: OldItems | undefined;

  constructor(value: Json, old: Json, schema: JsonSchema) {
    this.value = value;
    this.old = old;
    this.#schema = schema;
  }

  field(name: string): Correlation | undefined {
    return this.#child(name, () => {
      const value = field(this.value, name);
      const old = field(this.old, name);
      const schema = schemaOfField(this.#schema, name);
      return value === undefined || old === undefined || schema === undefined ? undefined : new Correlation(value, old, schema);
    });
  }

  item(position: number): Correlation | undefined {
    return this.#child(position, () => {
      const { items } = this.#schema;
      const value = Array.isArray(this.value) ? (this.value[position] as Json | undefined) : undefined;
      if (value === undefined || items === undefined || !Array.isArray(this.old)) return undefined;
      const old = this.#oldItems(this.old).find(value);
      return old === undefined ? undefined : new Correlation(value, old, items);
    });
  }

  #oldItems(old: readonly Json[]): OldItems {
    return (this.#items ??= new OldItems(this.#schema, old));
  }

  /** Equal, ignoring the order of lists of type map. */
  isUnchanged(): boolean {
    return (this.#unchanged ??= this.#compare());
  }

  #compare(): boolean {
    const { value, old } = this;
    if (value === null || old === null) return value === old;
    if (Array.isArray(value) && Array.isArray(old)) return this.#compareItems(value, old);
    if (!isJsonObject(value) || !isJsonObject(old)) return jsonEqual(value, old);
    const names = Object.keys(value);
    return names.length === Object.keys(old).length && names.every((name) => this.field(name)?.isUnchanged() === true);
  }

  #compareItems(value: readonly Json[], old: readonly Json[]): boolean {
    if (value.length !== old.length) return false;
    if (this.#schema.listType !== "map") return jsonEqual(value, old);
    return value.every((_, position) => this.item(position)?.isUnchanged() === true);
  }

  #child(key: string | number, make: () => Correlation | undefined): Correlation | undefined {
    if (!this.#children.has(key)) this.#children.set(key, make());
    return this.#children.get(key);
  }
}

/** Items of an old list, by the keys of a list of type map; the first of several wins. */
export class OldItems {
  readonly #keys: readonly string[];
  readonly #byKey = new Map<string, Json>();

  constructor(schema: JsonSchema, items: readonly Json[]) {
    this.#keys = schema.type === "array" && schema.listType === "map" ? schema.listMapKeys : [];
    for (const item of items) {
      const key = this.#keyOf(item);
      if (key !== undefined && !this.#byKey.has(key)) this.#byKey.set(key, item);
    }
  }

  find(item: Json): Json | undefined {
    const key = this.#keyOf(item);
    return key === undefined ? undefined : this.#byKey.get(key);
  }

  #keyOf(item: Json): string | undefined {
    if (this.#keys.length === 0) return undefined;
    const values = this.#keys.map((name) => field(item, name));
    return values.every((value) => value !== undefined && value !== null && typeof value !== "object") ? JSON.stringify(values) : undefined;
  }
}
