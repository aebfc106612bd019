/**
 * A served version of a CRD for the REST layer. Schemas are parsed once, rules are compiled when the first object needs them.
 */
import { once, type Clock } from "#base";
import { field, fieldAt, goPlainText, qualifiedNameProblems, type Json, type JsonObject, type KubeObject } from "#kube";
import { crdSchema, type TypeSchema } from "../../apply/index.ts";
import { Pace, runAtOnce, runPaced, type Paced } from "../../pace.ts";
import type { FieldCause, ResourceType } from "../../resource-type.ts";
import { ruleTree, type RuleTree } from "../rules/rule-tree.ts";
import { Converter, usesWebhook, type WebhookOf } from "../conversion/index.ts";
import { readDefinition, type CrdVersion, type Definition } from "../crd/definition.ts";
import { asObject } from "../crd/json-access.ts";
import { stringsOf } from "../metadata/object-meta.ts";
import { applyDefaults } from "../schema/defaults.ts";
import { coerceObject, type Coercion } from "./coerce.ts";
import { rewriteVersion } from "./convert.ts";
import { deprecationWarning, VERBS, verbsOf } from "./discovery.ts";
import { parseJsonPath } from "./json-path.ts";
import type { PublishedKind } from "./openapi.ts";
import { tablePrinter } from "./table.ts";
import { validateCreate, validateUpdate } from "./validate.ts";

export type CustomResourceType = ResourceType & {
  /** `subresources.scale` of the version. */
  readonly scale: JsonObject | undefined;
  readonly deprecationWarning: string | undefined;
  /** The source of its OpenAPI schemas. */
  readonly published: PublishedKind;
};

/** The dependencies of types. Without a webhook the conversion is None; without a clock rules have no time limit. */
export type TypeDependencies = { readonly webhookOf?: WebhookOf | undefined; readonly clock?: Clock | undefined };

type Update = { readonly previous: KubeObject | undefined; readonly subresource: string | undefined };

/** One per served version, in the order of the CRD. */
export function customResourceTypes(crd: KubeObject, { webhookOf, clock }: TypeDependencies = {}): readonly CustomResourceType[] {
  const definition = readDefinition(crd as unknown as JsonObject);
  const converter = webhookOf !== undefined && usesWebhook(definition) ? new Converter(definition, webhookOf(definition)) : undefined;
  return definition.versions.filter((version) => version.served).map((version) => typeOf(definition, version, { converter, clock }));
}

type Parts = { readonly converter: Converter | undefined; readonly clock: Clock | undefined };

function typeOf(definition: Definition, version: CrdVersion, { converter, clock }: Parts): CustomResourceType {
  const { group, names } = definition;
  const resource = { group, version: version.name, kind: names.kind, plural: names.plural, namespaced: definition.scope === "Namespaced" };
  const apiVersion = `${group}/${version.name}`;
  const storage = definition.versions.find((one) => one.storage)?.name ?? version.name;
  const schema = version.validation?.schema;
  const schemaJson = version.validation?.schema === undefined ? undefined : version.validation.json;
  const coercion: Coercion = { schema, group, kind: names.kind, preserveUnknownFields: definition.preserveUnknownFields };
  const rules = once((): RuleTree | undefined => (schema === undefined ? undefined : ruleTree(schema, true)));
  const typeSchema = once(() => crdSchema(schemaJson, { preserveUnknownFields: definition.preserveUnknownFields }));
  const hasStatus = version.subresources?.status === true;
  const printer = tablePrinter(version.columns);
  /** Rule failures on unchanged values, kept until the warnings of the object are read. */
  const tolerated = new WeakMap<KubeObject, readonly string[]>();
  const shown = new WeakMap<KubeObject, KubeObject>();
  const validation = () => ({ resource, schema, rules: rules(), scale: version.subresources?.scale });
  function* causesOf(next: KubeObject, { previous, subresource }: Update): Paced<readonly FieldCause[]> {
    const pace = clock === undefined ? undefined : new Pace(clock);
    if (previous === undefined) return yield* validateCreate({ ...validation(), pace }, next);
    const warnings: string[] = [];
    const tolerate = (cause: FieldCause) => warnings.push(`${cause.field}: ${cause.detail}`);
    const causes = yield* validateUpdate({ ...validation(), tolerate, pace }, next, { previous, subresource });
    if (warnings.length > 0) tolerated.set(next, warnings);
    return causes;
  }
  const published: PublishedKind = {
    group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind,
    plural: names.plural,
    schema: schemaJson,
    selectableFields: version.selectableFields,
  };
  return {
    resource,
    singular: names.singular,
    listKind: names.listKind,
    shortNames: names.shortNames,
    categories: names.categories,
    verbs: VERBS,
    listedVerbs: verbsOf(definition),
    subresources: new Set([...(hasStatus ? ["status"] : []), ...(version.subresources?.scale === undefined ? [] : ["scale"])]),
    custom: true,
    collection: `${group}/${names.plural}`,
    fromStorage: (stored) => {
      const known = converter?.known(stored, apiVersion) ?? shown.get(stored);
      if (known !== undefined) return known;
      const read = renamed(defaulted(stored, definition), apiVersion, coercion);
      shown.set(stored, read);
      return read;
    },
    toStorage: (object) => renamed(object, `${group}/${storage}`, { ...coercion, schema: schemaOf(definition, storage) }),
    conversion: converter,
    strategicSchema: undefined,
    get typeSchema(): TypeSchema {
      return typeSchema();
    },
    decode: (value) => coerceObject(value, coercion),
    decodeMerged: (value) => coerceObject(value, { ...coercion, keepNulls: true }),
    applyDefaults: (object) => applyDefaults(object as unknown as Json, schema) as unknown as KubeObject,
    prepareForCreate: (object) => (hasStatus ? without(object, "status") : object),
    prepareForUpdate: (next, previous, subresource) => prepareForUpdate(next, previous, subresource, hasStatus),
    validate: (next, previous, subresource) => runAtOnce(causesOf(next, { previous, subresource })),
    validatePaced: (next, previous, subresource) =>
      clock === undefined || rules() === undefined
        ? runAtOnce(causesOf(next, { previous, subresource }))
        : runPaced(causesOf(next, { previous, subresource }), clock, next, previous),
    warnings: (next, previous) => [...(tolerated.get(next) ?? []), ...finalizerWarnings(next, previous)],
    generationOf: (object) => without(object, "metadata") as unknown as Json,
    createOnUpdate: false,
    unconditionalUpdate: false,
    deletion: { answersObject: false, defaultPropagation: "Background", gracePeriodSeconds: () => 0 },
    fieldSelectors: new Map(version.selectableFields.map((path) => [path.replace(/^\./, ""), selector(path)])),
    columns: printer.columns,
    cells: printer.cells,
    scale: field(field(version.json, "subresources"), "scale") as JsonObject | undefined,
    deprecationWarning: deprecationWarning(definition, version),
    published,
  };
}

function schemaOf(definition: Definition, version: string): Coercion["schema"] {
  return definition.versions.find((one) => one.name === version)?.validation?.schema;
}

/** An object gets the defaults of the version it was written in, before the conversion, and those of no other version. */
function defaulted(stored: KubeObject, definition: Definition): KubeObject {
  const version = stored.apiVersion.slice(definition.group.length + 1);
  return applyDefaults(stored as unknown as Json, schemaOf(definition, version)) as unknown as KubeObject;
}

/**
 * Conversion None: another apiVersion, without the fields that are unknown in that version. Fields are pruned within one version too, because
 * the definition may have changed since the write. An object without unknown fields is returned as the same object.
 */
function renamed(object: KubeObject, apiVersion: string, coercion: Coercion): KubeObject {
  const same = object.apiVersion === apiVersion;
  const rewritten = same ? (object as unknown as JsonObject) : rewriteVersion(object as unknown as JsonObject, apiVersion);
  const coerced = coerceObject(rewritten, coercion);
  if (same && (!coerced.ok || coerced.value.findings.length === 0)) return object;
  return coerced.ok ? coerced.value.object : (rewritten as unknown as KubeObject);
}

/** A write to the main resource keeps the status, a write to the status keeps everything else. */
function prepareForUpdate(next: KubeObject, previous: KubeObject, subresource: string | undefined, hasStatus: boolean): KubeObject {
  const status = field(previous, "status");
  if (subresource !== "status") {
    if (!hasStatus) return next;
    return status === undefined ? without(next, "status") : ({ ...next, status } as KubeObject);
  }
  const given = field(next, "status");
  const managedFields = fieldAt(next, "metadata", "managedFields");
  const { managedFields: _, ...metadata } = asObject(field(previous, "metadata"));
  const kept = { ...without(previous, "status"), metadata: { ...metadata, ...(managedFields === undefined ? {} : { managedFields }) } };
  return (given === undefined ? kept : { ...kept, status: given }) as unknown as KubeObject;
}

function without(object: KubeObject, name: string): KubeObject {
  if (!Object.hasOwn(object, name)) return object;
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name)) as unknown as KubeObject;
}

function selector(path: string): (object: KubeObject) => string {
  const parsed = parseJsonPath(path);
  return (object) => {
    const value = parsed.ok ? parsed.value(object as unknown as Json)[0] : undefined;
    return value === undefined || value === null ? "" : goPlainText(value);
  };
}

const STANDARD_FINALIZERS = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

/** New finalizers that another controller might also use. */
function finalizerWarnings(next: KubeObject, previous: KubeObject | undefined): readonly string[] {
  const old = new Set(stringsOf(fieldAt(previous, "metadata", "finalizers")));
  const added = new Set(stringsOf(fieldAt(next, "metadata", "finalizers")).filter((name) => !old.has(name)));
  return [...added].toSorted().flatMap((name) => {
    const at = `metadata.finalizers: ${JSON.stringify(name)}: `;
    const problems = qualifiedNameProblems(name).map((problem) => at + problem);
    if (name.includes("/") || STANDARD_FINALIZERS.has(name)) return problems;
    const form = name.includes(".") ? "a domain-qualified finalizer name including a path (/)" : "a domain-qualified finalizer name";
    return [...problems, `${at}prefer ${form} to avoid accidental conflicts with other finalizer writers`];
  });
}
