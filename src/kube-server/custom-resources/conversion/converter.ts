/**
 * The versions of one custom resource, when a webhook converts between them.
 *
 * `into` is for lists and watches: a stored object never changes, so its conversions are cached as long as the object is in memory. This is
 * the watch cache of a real server. `ask` is for reads and writes of a single object: it calls the webhook every time and caches nothing.
 */
import { err, ok, type Later, type Result } from "#base";
import type { Json, JsonObject, KubeObject } from "#kube";
import type { Conversion, ConversionOptions } from "../../resource-type.ts";
import { approximateSize } from "../../store/approximate-size.ts";
import type { Definition } from "../crd/definition.ts";
import { text } from "../crd/json-access.ts";
import { coerceObject } from "../resource/coerce.ts";
import { rewriteVersion } from "../resource/convert.ts";
import { applyDefaults } from "../schema/defaults.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { acceptAll, describeKind } from "./accept-converted.ts";
import type { ConversionWebhook } from "./port.ts";

/** By original object. */
type Conversions = ReadonlyMap<KubeObject, KubeObject>;

export class Converter implements Conversion {
  readonly storageVersion: string;
  readonly #definition: Definition;
  readonly #webhook: ConversionWebhook;
  readonly #known = new WeakMap<KubeObject, Map<string, KubeObject>>();
  /** Running conversions of stored objects, by version: several watches of a version wait for the same one. */
  readonly #pending = new WeakMap<KubeObject, Map<string, Promise<Result<undefined, string>>>>();

  constructor(definition: Definition, webhook: ConversionWebhook) {
    this.#definition = definition;
    this.#webhook = webhook;
    this.storageVersion = `${definition.group}/${definition.versions.find((one) => one.storage)?.name ?? ""}`;
  }

  into(objects: readonly KubeObject[], apiVersion: string, how: ConversionOptions = {}): Later<Result<readonly KubeObject[], string>> {
    const missing = objects.filter((object) => object.apiVersion !== apiVersion && this.known(object, apiVersion) === undefined);
    const collected = (): readonly KubeObject[] => objects.map((object) => this.known(object, apiVersion) ?? object);
    if (missing.length === 0) return ok(collected());
    return this.#convertOnce(missing, apiVersion, how).then((converted) => (converted.ok ? ok(collected()) : converted));
  }

  ask(objects: readonly KubeObject[], apiVersion: string, how: ConversionOptions = {}): Later<Result<readonly KubeObject[], string>> {
    const others = objects.filter((object) => object.apiVersion !== apiVersion);
    if (others.length === 0) return ok(objects);
    return this.#convertInBatches(others, apiVersion, how).then((converted) =>
      converted.ok ? ok(objects.map((object) => converted.value.get(object) ?? object)) : converted,
    );
  }

  isCached(object: KubeObject, apiVersion: string): boolean {
    return this.known(object, apiVersion) !== undefined || this.#pending.get(object)?.has(apiVersion) === true;
  }

  async #convertOnce(objects: readonly KubeObject[], apiVersion: string, how: ConversionOptions): Promise<Result<undefined, string>> {
    const waiting = new Set<Promise<Result<undefined, string>>>();
    const open = objects.filter((object) => {
      const running = this.#pending.get(object)?.get(apiVersion);
      if (running !== undefined) waiting.add(running);
      return running === undefined;
    });
    if (open.length > 0) waiting.add(this.#trackPending(open, apiVersion, this.#convertAndCache(open, apiVersion, how)));
    const conversions = await Promise.all(waiting);
    return conversions.find((conversion) => !conversion.ok) ?? ok(undefined);
  }

  async #convertAndCache(objects: readonly KubeObject[], apiVersion: string, how: ConversionOptions): Promise<Result<undefined, string>> {
    const converted = await this.#convertInBatches(objects, apiVersion, how);
    if (!converted.ok) return converted;
    for (const [object, other] of converted.value) this.remember(object, other);
    return ok(undefined);
  }

  #trackPending(
    objects: readonly KubeObject[],
    apiVersion: string,
    conversion: Promise<Result<undefined, string>>,
  ): Promise<Result<undefined, string>> {
    for (const object of objects) {
      const versions = this.#pending.get(object) ?? new Map<string, Promise<Result<undefined, string>>>();
      this.#pending.set(object, versions.set(apiVersion, conversion));
    }
    return conversion.finally(() => {
      for (const object of objects) this.#pending.get(object)?.delete(apiVersion);
    });
  }

  /** The cached object in another version. */
  known(object: KubeObject, apiVersion: string): KubeObject | undefined {
    return this.#known.get(object)?.get(apiVersion);
  }

  remember(object: KubeObject, converted: KubeObject): void {
    const versions = this.#known.get(object) ?? new Map<string, KubeObject>();
    this.#known.set(object, versions.set(converted.apiVersion, converted));
  }

  /** Sequential calls: a response contains all objects of its request, and its size is limited. */
  async #convertInBatches(
    objects: readonly KubeObject[],
    apiVersion: string,
    how: ConversionOptions,
  ): Promise<Result<Conversions, string>> {
    const unknown = objects.find((object) => this.#schemaOf(object.apiVersion) === undefined);
    if (unknown !== undefined) return err(`request to convert CR from an invalid group/version: ${unknown.apiVersion}`);
    const conversions = new Map<KubeObject, KubeObject>();
    for (const batch of batchesOf(objects)) {
      const converted = await this.#callWebhook(batch, apiVersion, how);
      if (!converted.ok) return converted;
      for (const [index, object] of batch.entries()) conversions.set(object, converted.value[index] ?? object);
    }
    return ok(conversions);
  }

  async #callWebhook(
    objects: readonly KubeObject[],
    apiVersion: string,
    { storage = false }: ConversionOptions,
  ): Promise<Result<readonly KubeObject[], string>> {
    const given = objects.map((object) => this.#defaulted(storage ? withoutVersion(object) : object));
    const returned = await this.#webhook.convert(given, apiVersion);
    if (!returned.ok) return err(`conversion webhook for ${describeKind(given[0] ?? {})} failed: ${returned.error}`);
    const accepted = acceptAll(given, returned.value, apiVersion);
    if (!accepted.ok) return accepted;
    const converted = objects.map((object, index) => {
      const coerced = this.#coerced(accepted.value[index] ?? {}, apiVersion);
      return storage ? withVersionOf(object, coerced) : coerced;
    });
    return ok(converted);
  }

  /** An object gets the defaults of the version it was written in, before the conversion, and those of no other version. */
  #defaulted(object: KubeObject): JsonObject {
    return applyDefaults(object as unknown as Json, this.#schemaOf(object.apiVersion)?.schema) as JsonObject;
  }

  #coerced(converted: JsonObject, apiVersion: string): KubeObject {
    const { group, names, preserveUnknownFields } = this.#definition;
    const schema = this.#schemaOf(apiVersion)?.schema;
    const coerced = coerceObject(rewriteVersion(converted, apiVersion), { schema, group, kind: names.kind, preserveUnknownFields });
    return coerced.ok ? coerced.value.object : (converted as unknown as KubeObject);
  }

  #schemaOf(apiVersion: string): { readonly schema: JsonSchema | undefined } | undefined {
    const version = this.#definition.versions.find(({ name }) => apiVersion === `${this.#definition.group}/${name}`);
    return version === undefined ? undefined : { schema: version.validation?.schema };
  }
}

function withoutVersion(object: KubeObject): KubeObject {
  const { resourceVersion: _version, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Inserts resourceVersion at its place, because fields are sent in the order of this object. */
function withVersionOf({ metadata: { resourceVersion } }: KubeObject, converted: KubeObject): KubeObject {
  if (resourceVersion === undefined) return converted;
  const { name, generateName, namespace, uid, ...rest } = converted.metadata;
  const given = {
    name,
    ...(generateName === undefined ? {} : { generateName }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
  return { ...converted, metadata: { ...given, resourceVersion, ...rest } };
}

/** The approximate size of the objects in one request, in bytes. */
const BATCH_BYTES = 2 * 1024 * 1024;

function* batchesOf(objects: readonly KubeObject[]): Generator<readonly KubeObject[], void> {
  let batch: KubeObject[] = [];
  let bytes = 0;
  for (const object of objects) {
    const size = approximateSize(object);
    if (batch.length > 0 && bytes + size > BATCH_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(object);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Undefined: conversion None, without a webhook. */
export function usesWebhook(definition: Definition): boolean {
  return text(definition.conversion, "strategy") === "Webhook";
}
