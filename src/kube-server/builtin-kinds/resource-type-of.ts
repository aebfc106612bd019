/**
 * Puts a ResourceType together from what discovery, the schema and the rules of a kind say.
 *
 * Parts are made when they are first used: a server that never sees a ResourceSlice never reads its types.
 */
import { once } from "#base";
import { apiVersionOf, type Json, type KubeObject } from "#kube";
import { builtinDefinition, builtinDefinitionNameOf } from "#patch";
import { openApiSchemas, type TypeSchema } from "../apply/index.ts";
import type { Decoded, DeletePolicy, FieldCause, ResourceType, TableColumn } from "../resource-type.ts";
import { genericCells } from "./cells/generic.ts";
import { withoutEmptyLists } from "./codec/empty-lists.ts";
import { fromUnstructured } from "./codec/from-unstructured.ts";
import { readGoValue } from "./codec/go-json.ts";
import { inGoOrder } from "./codec/go-order.ts";
import { goTypeOf, type GoType } from "./codec/go-types.ts";
import { zeroField } from "./codec/go-zero.ts";
import { columnsOf } from "./columns.ts";
import { withDefaults } from "./defaults/walk.ts";
import type { BuiltinResource } from "./discovery.ts";
import { asJson, at, changed, childOf, objectAt, type Draft } from "./draft.ts";
import type { KindRules, SubresourceView } from "./kind-rules.ts";
import { conversionOf } from "./versions/index.ts";
import { joined, NO_CAUSES } from "./rules/causes.ts";
import { dnsSubdomain, pathSegment } from "./rules/formats.ts";
import { validateKubeFinalizers, validateObjectMeta, validateObjectMetaUpdate, validateObjectName } from "./rules/object-meta.ts";

const schemaOf = openApiSchemas((ref) => builtinDefinition(ref.slice(ref.lastIndexOf("/") + 1)));

const AT_ONCE: DeletePolicy = { answersObject: false, defaultPropagation: "Background", gracePeriodSeconds: () => 0 };

export function resourceTypeOf(found: BuiltinResource, rules: KindRules): ResourceType {
  const { group, version, kind, plural, namespaced } = found;
  const resource = { group, version, kind, plural, namespaced };
  const apiVersion = apiVersionOf(resource);
  const definition = builtinDefinitionNameOf({ group, version, kind }) ?? "";
  const goType = once(() => goTypeOf(definition));
  const typeSchema = once(() => schemaOf(builtinDefinition(definition) ?? { type: "object" }));
  const columns = once(() => columnsOf(apiVersion, plural) ?? nameAndAge());
  const subresources = new Set(found.subresources.map(({ name }) => name));
  const hasStatus = subresources.has("status");
  return {
    resource,
    singular: found.singular,
    shortNames: found.shortNames,
    categories: found.categories,
    verbs: found.verbs,
    subresources,
    custom: false,
    ...stored(conversionOf(resource), goType),
    // asked by name: the schema itself is made when the first patch comes
    strategicSchema: definition === "" ? undefined : { group, version, kind },
    get typeSchema(): TypeSchema {
      return typeSchema();
    },
    decode: (value, like) => decode(goType(), { apiVersion, kind }, value, like),
    applyDefaults: (object, like) => {
      const filled = withDefaults(goType(), object, like);
      return rules.complete === undefined || rules.isComplete?.(filled) === true ? filled : changed(filled, rules.complete);
    },
    prepareForCreate: (object) => prepareForCreate(object, { rules, hasStatus, goType }),
    prepareForUpdate: (next, previous, subresource, now) => prepareForUpdate({ next, previous, subresource, now }, { rules, hasStatus }),
    validate: (next, previous, subresource) => validate({ next, previous, subresource }, { rules, namespaced }),
    warnings: (next, previous) => rules.warnings?.(next, previous) ?? [],
    generationOf: rules.generation,
    ...(rules.generationAfterChange === undefined ? {} : { generationAfterChange: rules.generationAfterChange }),
    createOnUpdate: rules.createOnUpdate ?? false,
    unconditionalUpdate: rules.needsVersionOnUpdate !== true,
    deletion: { ...AT_ONCE, ...rules.deletion },
    fieldSelectors: new Map(Object.entries(rules.fieldSelectors ?? {})),
    get columns(): readonly TableColumn[] {
      return columns();
    },
    cells: (object, now) => (rules.cells ?? genericCells(columns()))(object, now),
    fromUnstructured: (value) => fromUnstructured(goType(), value),
    asGoWrites: (object) => inGoOrder(goType(), object),
    ...(rules.rowConditions === undefined ? {} : { rowConditions: rules.rowConditions }),
    plainTable: rules.cells === undefined,
    ...(rules.versionAnnotations === undefined ? {} : { versionAnnotations: rules.versionAnnotations }),
  };
}

type Conversion = Pick<ResourceType, "collection" | "fromStorage" | "toStorage">;

function stored(conversion: Conversion, goType: () => GoType): Conversion {
  return { ...conversion, toStorage: (object) => conversion.toStorage(withoutEmptyLists(goType(), object)) };
}

function nameAndAge(): readonly TableColumn[] {
  return (columnsOf("v1", "serviceaccounts") ?? []).slice(0, 2);
}

type Head = { readonly apiVersion: string; readonly kind: string };

function decode(type: GoType, head: Head, value: Json, like: KubeObject | undefined): DecodeResult {
  const read = readGoValue(type, value, like === undefined ? undefined : asJson(like));
  if (!read.ok) return read;
  const { kind, apiVersion } = read.value.value;
  // a body may leave out what the path says already
  const object = kind === head.kind && apiVersion === head.apiVersion ? read.value.value : { ...read.value.value, ...head };
  const kept = forgetsOwners(value) ? { ...object, metadata: { ...objectAt(object, "metadata"), managedFields: [] } } : object;
  return { ok: true, value: { object: kept as unknown as KubeObject, findings: read.value.findings } };
}

/** Go drops empty lists, but this one has a meaning: all managed fields are cleared. */
function forgetsOwners(value: Json): boolean {
  const owners = at(value, "metadata", "managedFields");
  return Array.isArray(owners) && owners.length === 0;
}

type DecodeResult = { readonly ok: true; readonly value: Decoded } | { readonly ok: false; readonly error: string };
type Write = { readonly next: KubeObject; readonly previous: KubeObject | undefined; readonly subresource: string | undefined };

function prepareForCreate(
  object: KubeObject,
  { rules, hasStatus, goType }: { readonly rules: KindRules; readonly hasStatus: boolean; readonly goType: () => GoType },
): KubeObject {
  const resets = hasStatus && rules.keepsStatusOnCreate !== true;
  if (!resets && rules.prepareCreate === undefined && rules.generation === undefined) return object;
  return changed(object, (draft) => {
    if (resets) setOrDrop(draft, "status", zeroField(goType(), "status"));
    if (rules.generation !== undefined && rules.generationAfterChange !== true) childOf(draft, "metadata")["generation"] = 1;
    rules.prepareCreate?.(draft);
  });
}

function prepareForUpdate(
  { next, previous, subresource, now }: Write & { readonly previous: KubeObject; readonly now: string | undefined },
  { rules, hasStatus }: { readonly rules: KindRules; readonly hasStatus: boolean },
): KubeObject {
  return changed(next, (draft) => {
    carryMetadata(childOf(draft, "metadata"), previous);
    const old = asJson(previous);
    if (subresource === "status") {
      setOrDrop(draft, "spec", old["spec"]);
      if (rules.statusKeepsMeta === true) keepMetadata(childOf(draft, "metadata"), previous);
      rules.prepareStatus?.(draft, previous, now);
      return;
    }
    const view = viewOf(rules, subresource);
    if (view !== undefined) {
      view.prepare(draft, previous, now);
      return;
    }
    if (hasStatus) setOrDrop(draft, "status", old["status"]);
    rules.prepareUpdate?.(draft, previous);
  });
}

/** Fields that no update changes: one that is left out keeps its value, and another value is refused by validation. */
function carryMetadata(meta: Draft, previous: KubeObject): void {
  const old = asJson(previous)["metadata"];
  setOrDrop(meta, "generation", at(old, "generation"));
  delete meta["selfLink"]; // no longer set by any server
  if (at(meta, "uid") === undefined || meta["uid"] === "") setOrDrop(meta, "uid", at(old, "uid"));
  for (const name of ["creationTimestamp", "deletionTimestamp"]) {
    if (at(old, name) !== undefined) meta[name] = at(old, name);
  }
  if (at(meta, "deletionGracePeriodSeconds") === undefined)
    setOrDrop(meta, "deletionGracePeriodSeconds", at(old, "deletionGracePeriodSeconds"));
}

/** What owners of the status have no say in. */
function keepMetadata(meta: Draft, previous: KubeObject): void {
  const old = asJson(previous)["metadata"];
  for (const name of ["deletionGracePeriodSeconds", "finalizers", "labels", "annotations", "ownerReferences"])
    setOrDrop(meta, name, at(old, name));
}

function setOrDrop(draft: Draft, name: string, value: Json | undefined): void {
  if (value === undefined) delete draft[name];
  else draft[name] = value;
}

function validate(
  { next, previous, subresource }: Write,
  { rules, namespaced }: { readonly rules: KindRules; readonly namespaced: boolean },
): readonly FieldCause[] {
  const name = rules.name ?? dnsSubdomain;
  const anyGenerateName = rules.anyGenerateName === true;
  const { ownMeta = "with-finalizers" } = rules;
  const finalizers = () => (ownMeta === "with-finalizers" ? validateKubeFinalizers(next) : NO_CAUSES);
  const metaRules = { namespaced, name, anyGenerateName };
  if (previous === undefined) {
    const meta = ownMeta === "none" ? NO_CAUSES : joined(validateObjectMeta(next, metaRules), finalizers());
    const own = joined(meta, rules.validate?.(next, undefined) ?? []);
    if (own.length > 0) return own;
    return ownMeta === "none"
      ? validateObjectMeta(next, { namespaced, name: pathSegment })
      : validateObjectName(next, { name: pathSegment });
  }
  const general = validateObjectMeta(next, { namespaced, name: pathSegment });
  // the server looks at all of it once more; where the first look found nothing, only the rule for names can
  const again = general.length === 0 ? validateObjectName : validateObjectMeta;
  const full = () => (ownMeta === "none" ? NO_CAUSES : joined(again(next, metaRules), finalizers()));
  const unchanging = validateObjectMetaUpdate(next, previous);
  const common = joined(general, unchanging);
  const meta = ownMeta === "none" ? [] : joined(unchanging, finalizers());
  if (subresource === "status") {
    const { onStatus = "meta" } = rules;
    const own = onStatus === "nothing" ? [] : onStatus === "meta" ? meta : joined(full(), rules.validate?.(next, previous) ?? [], meta);
    return joined(common, own, rules.validateStatus?.(next, previous) ?? []);
  }
  const spec = rules.validate?.(next, previous) ?? [];
  const update = (viewOf(rules, subresource)?.validate ?? rules.validateUpdate)?.(next, previous) ?? [];
  switch (rules.onUpdate ?? "spec-between") {
    case "spec-between":
      return joined(common, meta, spec, update);
    case "spec-last":
      return joined(common, meta, update, spec);
    case "meta-and-spec-first":
      return joined(common, full(), spec, meta, update);
    case "meta-and-spec-last":
      return joined(common, meta, update, full(), spec);
    case "meta-then-all":
      return joined(common, meta, full(), spec, update);
    case "all-anew":
      return joined(common, full(), spec, update);
    case "no-spec":
      return joined(common, meta, update);
  }
}

function viewOf({ views = {} }: KindRules, subresource: string | undefined): SubresourceView | undefined {
  return subresource !== undefined && Object.hasOwn(views, subresource) ? views[subresource] : undefined;
}
