/** For the tests of this folder: a kind with every type of list and map, and an object with a sequence of writes. */
import { expectOk, type Result } from "#base";
import { fieldAt, type Json, type JsonObject } from "#kube";
import type { ApplyError } from "./apply-error.ts";
import { applyPatch, trackUpdate } from "./managed-fields.ts";
import type { ManagedKind } from "./managed-kind.ts";
import { crdSchema } from "./open-api-schema.ts";

const text = { type: "string" };
const item = {
  type: "object",
  properties: { name: text, port: { type: "integer" }, protocol: { type: "string", default: "TCP" }, value: text },
};

export const widgetDocument: JsonObject = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        a: text,
        n: { type: "integer" },
        on: { type: "boolean" },
        tags: { type: "array", items: text, "x-kubernetes-list-type": "set" },
        items: { type: "array", items: item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] },
        ports: { type: "array", items: item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"] },
        plain: { type: "array", items: item },
        whole: { type: "object", "x-kubernetes-map-type": "atomic", properties: { x: text, y: text } },
        struct: { type: "object", properties: { x: text, y: text } },
        map: { type: "object", additionalProperties: text },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        either: { "x-kubernetes-int-or-string": true },
        template: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
      },
    },
    status: { type: "object", properties: { phase: text } },
  },
};

export const widgetKind: ManagedKind = { apiVersion: "test.dev/v1", kind: "Widget", schema: crdSchema(widgetDocument) };

export function widget(spec: JsonObject | undefined, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: widgetKind.apiVersion,
    kind: "Widget",
    metadata: { name: "w", ...metadata },
    ...(spec === undefined ? {} : { spec }),
  };
}

/** One object and the writes to it; each write is a second later than the one before. */
export class WidgetWorld {
  live: JsonObject | undefined;
  #seconds = 10;
  readonly #kind: Partial<ManagedKind>;

  constructor(kind: Partial<ManagedKind> = {}) {
    this.#kind = kind;
  }

  tryApply(
    manager: string,
    applied: JsonObject,
    options: Partial<ManagedKind> & { readonly force?: boolean } = {},
  ): Result<JsonObject, ApplyError> {
    const { force = false, ...kind } = options;
    return this.#keep(applyPatch({ ...widgetKind, ...this.#kind, ...kind, live: this.live, applied, manager, force, now: this.#tick() }));
  }

  apply(manager: string, spec: JsonObject | undefined, options: { readonly force?: boolean } = {}): this {
    expectOk(this.tryApply(manager, widget(spec), options));
    return this;
  }

  tryUpdate(manager: string, next: JsonObject, kind: Partial<ManagedKind> = {}): Result<JsonObject, ApplyError> {
    return this.#keep(trackUpdate({ ...widgetKind, ...this.#kind, ...kind, old: this.live, next, manager, now: this.#tick() }));
  }

  /** An update that does not change managedFields. */
  update(manager: string, spec: JsonObject | undefined): this {
    const managedFields = fieldAt(this.live, "metadata", "managedFields");
    expectOk(this.tryUpdate(manager, widget(spec, { uid: "u-1", ...(managedFields === undefined ? {} : { managedFields }) })));
    return this;
  }

  get spec(): Json | undefined {
    return fieldAt(this.live, "spec");
  }

  /** The fields of each manager: `{ "alice Apply": fieldsV1 }`. */
  get owners(): Record<string, Json | undefined> {
    const entries = fieldAt(this.live, "metadata", "managedFields");
    const list: readonly Json[] = Array.isArray(entries) ? entries : [];
    return Object.fromEntries(list.map((entry) => [ownerOf(entry), fieldAt(entry, "fieldsV1")]));
  }

  get times(): Record<string, Json | undefined> {
    const entries = fieldAt(this.live, "metadata", "managedFields");
    const list: readonly Json[] = Array.isArray(entries) ? entries : [];
    return Object.fromEntries(list.map((entry) => [ownerOf(entry), fieldAt(entry, "time")]));
  }

  #keep(result: Result<JsonObject, ApplyError>): Result<JsonObject, ApplyError> {
    if (result.ok) this.live = result.value;
    return result;
  }

  #tick(): string {
    return `2026-01-01T00:00:${String(this.#seconds++).padStart(2, "0")}Z`;
  }
}

function ownerOf(entry: Json): string {
  const texts = ["manager", "operation", "subresource"].map((name) => fieldAt(entry, name));
  return texts.filter((text) => typeof text === "string").join(" ");
}
