/**
 * The versions of one custom resource, when a webhook converts between them.
 *
 * `into` is for lists and watches: a stored object never changes, so its conversions are kept as long as the object is in memory. This is the
 * watch cache of a real server. `ask` is for reads and writes of a single object: it calls the webhook every time and keeps nothing.
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

/** By the object that was converted. */
type Answers = ReadonlyMap<KubeObject, KubeObject>;

export class Converter implements Conversion {
  readonly storageVersion: string;
  readonly #definition: Definition;
  readonly #webhook: ConversionWebhook;
  readonly #known = new WeakMap<KubeObject, Map<string, KubeObject>>();
  /** Questions about stored objects that are not answered yet: several watches of a version wait for the same. By version. */
  readonly #asked = new WeakMap<KubeObject, Map<string, Promise<Result<undefined, string>>>>();

  constructor(definition: Definition, webhook: ConversionWebhook) {
    this.#definition = definition;
    this.#webhook = webhook;
    this.storageVersion = `${definition.group}/${definition.versions.find((one) => one.storage)?.name ?? ""}`;
  }

  into(objects: readonly KubeObject[], apiVersion: string, how: ConversionOptions = {}): Later<Result<readonly KubeObject[], string>> {
    const missing = objects.filter((object) => object.apiVersion !== apiVersion && this.known(object, apiVersion) === undefined);
    const collected = (): readonly KubeObject[] => objects.map((object) => this.known(object, apiVersion) ?? object);
    if (missing.length === 0) return ok(collected());
    return this.#askOnce(missing, apiVersion, how).then((asked) => (asked.ok ? ok(collected()) : asked));
  }

  ask(objects: readonly KubeObject[], apiVersion: string, how: ConversionOptions = {}): Later<Result<readonly KubeObject[], string>> {
    const others = objects.filter((object) => object.apiVersion !== apiVersion);
    if (others.length === 0) return ok(objects);
    return this.#askInBatches(others, apiVersion, how).then((asked) =>
      asked.ok ? ok(objects.map((object) => asked.value.get(object) ?? object)) : asked,
    );
  }

  isCached(object: KubeObject, apiVersion: string): boolean {
    return this.known(object, apiVersion) !== undefined || this.#asked.get(object)?.has(apiVersion) === true;
  }

  async #askOnce(objects: readonly KubeObject[], apiVersion: string, how: ConversionOptions): Promise<Result<undefined, string>> {
    const waiting = new Set<Promise<Result<undefined, string>>>();
    const open = objects.filter((object) => {
      const asked = this.#asked.get(object)?.get(apiVersion);
      if (asked !== undefined) waiting.add(asked);
      return asked === undefined;
    });
    if (open.length > 0) waiting.add(this.#keepAsked(open, apiVersion, this.#askAndRemember(open, apiVersion, how)));
    const answers = await Promise.all(waiting);
    return answers.find((answer) => !answer.ok) ?? ok(undefined);
  }

  async #askAndRemember(objects: readonly KubeObject[], apiVersion: string, how: ConversionOptions): Promise<Result<undefined, string>> {
    const asked = await this.#askInBatches(objects, apiVersion, how);
    if (!asked.ok) return asked;
    for (const [object, converted] of asked.value) this.remember(object, converted);
    return ok(undefined);
  }

  #keepAsked(
    objects: readonly KubeObject[],
    apiVersion: string,
    answer: Promise<Result<undefined, string>>,
  ): Promise<Result<undefined, string>> {
    for (const object of objects) {
      const versions = this.#asked.get(object) ?? new Map<string, Promise<Result<undefined, string>>>();
      this.#asked.set(object, versions.set(apiVersion, answer));
    }
    return answer.finally(() => {
      for (const object of objects) this.#asked.get(object)?.delete(apiVersion);
    });
  }

  /** The object in this other version, if nobody needs to be asked any more. */
  known(object: KubeObject, apiVersion: string): KubeObject | undefined {
    return this.#known.get(object)?.get(apiVersion);
  }

  remember(object: KubeObject, converted: KubeObject): void {
    const versions = this.#known.get(object) ?? new Map<string, KubeObject>();
    this.#known.set(object, versions.set(converted.apiVersion, converted));
  }

  /** One call after the other: a response holds all objects of its request, and is limited. */
  async #askInBatches(objects: readonly KubeObject[], apiVersion: string, how: ConversionOptions): Promise<Result<Answers, string>> {
    const unknown = objects.find((object) => this.#schemaOf(object.apiVersion) === undefined);
    if (unknown !== undefined) return err(`request to convert CR from an invalid group/version: ${unknown.apiVersion}`);
    const answers = new Map<KubeObject, KubeObject>();
    for (const batch of batchesOf(objects)) {
      const asked = await this.#ask(batch, apiVersion, how);
      if (!asked.ok) return asked;
      for (const [index, object] of batch.entries()) answers.set(object, asked.value[index] ?? object);
    }
    return ok(answers);
  }

  async #ask(
    objects: readonly KubeObject[],
    apiVersion: string,
    { storage = false }: ConversionOptions,
  ): Promise<Result<readonly KubeObject[], string>> {
    const given = objects.map((object) => this.#defaulted(storage ? withoutVersion(object) : object));
    const answered = await this.#webhook.convert(given, apiVersion);
    if (!answered.ok) return err(`conversion webhook for ${describeKind(given[0] ?? {})} failed: ${answered.error}`);
    const accepted = acceptAll(given, answered.value, apiVersion);
    if (!accepted.ok) return accepted;
    const converted = objects.map((object, index) => {
      const coerced = this.#coerced(accepted.value[index] ?? {}, apiVersion);
      return storage ? withVersionOf(object, coerced) : coerced;
    });
    return ok(converted);
  }

  /** Defaults come from the version that an object was written in, before it is converted, and from no other. */
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

/** In its place: fields are answered in the order in which they are here. */
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

/** Bytes of objects in one request, roughly. */
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

/** Undefined: conversion None, which needs nobody. */
export function usesWebhook(definition: Definition): boolean {
  return text(definition.conversion, "strategy") === "Webhook";
}
