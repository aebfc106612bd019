/**
 * The complete validation of a custom resource, in the server's order: kind, metadata, schema, scale paths, embedded resources, list types, and
 * last the rules, which are not run on an object with a wrong structure.
 */
import {
  apiVersionOf,
  dnsSubdomainProblems,
  field,
  pathSegmentProblems,
  type Json,
  type JsonObject,
  type KubeObject,
  type Resource,
} from "#kube";
import type { Pace, Paced } from "../../pace.ts";
import type { FieldCause } from "../../resource-type.ts";
import { invalid } from "../causes/causes.ts";
import type { RuleTree } from "../rules/rule-tree.ts";
import { runRules } from "../rules/run-rules.ts";
import { validateObjectMeta, validateObjectMetaUpdate } from "../metadata/object-meta.ts";
import { validateEmbedded } from "../schema/embedded.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { validateListTypes } from "../schema/list-types.ts";
import { Correlation } from "../validation/correlation.ts";
import { validateSchema } from "../validation/schema-validator.ts";
import type { CrdScalePaths } from "../crd/definition.ts";
import { validateScale } from "./scale.ts";

export type ResourceValidation = {
  readonly resource: Resource;
  readonly schema: JsonSchema | undefined;
  readonly rules: RuleTree | undefined;
  readonly scale: CrdScalePaths | undefined;
  /** Called for rules that fail on an unchanged value: they do not refuse the object. */
  readonly tolerate?: (cause: FieldCause) => void;
  /** The time budget of the request; undefined: no limit. */
  readonly pace?: Pace | undefined;
};

const BLOCKING: ReadonlySet<FieldCause["reason"]> = new Set<FieldCause["reason"]>([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);
const NOT_CHECKED =
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

/** Rules are evaluated one by one: each may be followed by a pause. */
export function* validateCreate(validation: ResourceValidation, object: KubeObject): Paced<readonly FieldCause[]> {
  const { resource, schema } = validation;
  const json = asJson(object);
  const kind = kindCauses(resource, object);
  const own =
    kind.length > 0
      ? kind
      : [
          ...validateObjectMeta(metaOf(json), resource.namespaced, dnsSubdomainProblems, "metadata"),
          ...(schema === undefined ? [] : validateSchema(undefined, schema, json)),
          ...validateScale(validation.scale, json, "all"),
        ];
  const causes = [...own, ...validateEmbedded(undefined, json, schema, false), ...validateListTypes(undefined, schema, json)];
  return [...causes, ...(yield* ruleCauses(validation, causes, { json, old: undefined, correlation: undefined }))];
}

/** The server validates metadata twice, so some causes are duplicates. */
export function* validateUpdate(
  validation: ResourceValidation,
  next: KubeObject,
  { previous, subresource }: { readonly previous: KubeObject; readonly subresource: string | undefined },
): Paced<readonly FieldCause[]> {
  const { resource, schema } = validation;
  const [json, old] = [asJson(next), asJson(previous)];
  const common = [
    ...validateObjectMeta(metaOf(json), resource.namespaced, pathSegmentProblems, "metadata"),
    ...validateObjectMetaUpdate(metaOf(json), metaOf(old), "metadata"),
  ];
  const correlation = schema === undefined ? undefined : new Correlation(json, old, schema);
  const kind = kindCauses(resource, next);
  const shape = subresource === "status" ? statusShape(validation, json, correlation) : wholeShape(validation, json, correlation);
  const own = kind.length > 0 ? kind : [...validateObjectMetaUpdate(metaOf(json), metaOf(old), "metadata"), ...shape];
  const causes = [
    ...own,
    ...(subresource === "status" ? [] : validateEmbedded(undefined, json, schema, false)),
    ...(validateListTypes(undefined, schema, old).length > 0 ? [] : validateListTypes(undefined, schema, json)),
  ];
  return [...common, ...causes, ...(yield* ruleCauses(validation, causes, { json, old, correlation }))];
}

function wholeShape(validation: ResourceValidation, json: JsonObject, correlation: Correlation | undefined): readonly FieldCause[] {
  const { schema } = validation;
  return [
    ...(schema === undefined ? [] : validateSchema(undefined, schema, json, correlation)),
    ...validateScale(validation.scale, json, "all"),
  ];
}

/** Only the status is validated; `spec` was validated when it was written. */
function statusShape(validation: ResourceValidation, json: JsonObject, correlation: Correlation | undefined): readonly FieldCause[] {
  const schema = validation.schema?.properties?.get("status");
  const status = field(json, "status");
  const causes = schema === undefined || status === undefined ? [] : validateSchema("status", schema, status, correlation?.field("status"));
  return [...causes, ...validateScale(validation.scale, json, "status")];
}

type Compared = { readonly json: Json; readonly old: Json | undefined; readonly correlation: Correlation | undefined };

function* ruleCauses(validation: ResourceValidation, causes: readonly FieldCause[], compared: Compared): Paced<readonly FieldCause[]> {
  if (validation.rules === undefined) return [];
  if (causes.some((cause) => BLOCKING.has(cause.reason))) return [invalid(undefined, null, NOT_CHECKED)];
  const { json, old, correlation } = compared;
  const run = yield* runRules(validation.rules, { path: undefined, value: json, old, correlation, pace: validation.pace });
  if (validation.tolerate !== undefined) run.tolerated.forEach(validation.tolerate);
  return run.causes;
}

function kindCauses(resource: Resource, object: KubeObject): readonly FieldCause[] {
  const apiVersion = apiVersionOf(resource);
  return [
    ...(object.kind === resource.kind ? [] : [invalid("kind", object.kind, `must be ${resource.kind}`)]),
    ...(object.apiVersion === apiVersion ? [] : [invalid("apiVersion", object.apiVersion, `must be ${apiVersion}`)]),
  ];
}

function asJson(object: KubeObject): JsonObject {
  return object as unknown as JsonObject;
}

function metaOf(object: JsonObject): JsonObject {
  return (field(object, "metadata") ?? {}) as JsonObject;
}
