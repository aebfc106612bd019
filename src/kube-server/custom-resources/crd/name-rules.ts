/** Names, printer columns, subresources, selectable fields and the conversion stanza of a CRD. */
import { repeats } from "#base";
import { dns1035LabelProblems, field, isJsonObject, type JsonObject } from "#kube";
import type { FieldCause } from "../../resource-type.ts";
import { duplicate, forbidden, invalid, notSupported, required, tooMany } from "../causes/causes.ts";
import { child, index } from "../causes/field-path.ts";
import { readFieldPath } from "../rules/field-path.ts";
import { stringsOf } from "../metadata/object-meta.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { webhookClientCauses } from "./webhook-rules.ts";
import type { CrdNames, CrdPrinterColumn, Subresources } from "./definition.ts";
import { text } from "./json-access.ts";

export function nameCauses(names: CrdNames, path: string): readonly FieldCause[] {
  const label = (name: string, value: string): readonly FieldCause[] => labelCauses(child(path, name), value);
  const kind = (name: "kind" | "listKind"): readonly FieldCause[] => {
    const problems = names[name] === "" ? [] : dns1035LabelProblems(names[name].toLowerCase());
    if (problems.length === 0) return [];
    return [invalid(child(path, name), names[name], `may have mixed case, but should otherwise match: ${problems.join(",")}`)];
  };
  return [
    ...(names.plural === "" ? [] : label("plural", names.plural)),
    ...(names.singular === "" ? [] : label("singular", names.singular)),
    ...kind("kind"),
    ...kind("listKind"),
    ...names.shortNames.flatMap((name, at) => labelCauses(index(child(path, "shortNames"), at), name)),
    ...(names.kind !== "" && names.kind === names.listKind
      ? [invalid(child(path, "listKind"), names.listKind, "kind and listKind may not be the same")]
      : []),
    ...names.categories.flatMap((name, at) => labelCauses(index(child(path, "categories"), at), name)),
  ];
}

export function labelCauses(path: string, value: string): readonly FieldCause[] {
  const problems = dns1035LabelProblems(value);
  return problems.length === 0 ? [] : [invalid(path, value, problems.join(","))];
}

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

export function columnCauses(column: CrdPrinterColumn, path: string): readonly FieldCause[] {
  const types = `must be one of ${COLUMN_TYPES.join(",")}`;
  const causes: FieldCause[] = [];
  if (column.name === "") causes.push(required(child(path, "name")));
  if (column.type === "") causes.push(required(child(path, "type"), types));
  else if (!COLUMN_TYPES.includes(column.type)) causes.push(invalid(child(path, "type"), column.type, types));
  if (column.format !== "" && !COLUMN_FORMATS.includes(column.format)) {
    causes.push(invalid(child(path, "format"), column.format, `must be one of ${COLUMN_FORMATS.join(",")}`));
  }
  const jsonPath = child(path, "JSONPath");
  return column.jsonPath === "" ? [...causes, required(jsonPath)] : [...causes, ...simplePathCauses(jsonPath, column.jsonPath)];
}

function simplePathCauses(path: string, value: string): readonly FieldCause[] {
  return value.startsWith(".") ? [] : [invalid(path, value, "must be a simple json path starting with .")];
}

export function subresourceCauses(subresources: Subresources | undefined, path: string): readonly FieldCause[] {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  const causes = [
    ...requiredPathCauses(child(path, "scale.specReplicasPath"), scale.specReplicasPath, ".spec"),
    ...requiredPathCauses(child(path, "scale.statusReplicasPath"), scale.statusReplicasPath, ".status"),
  ];
  const selector = scale.labelSelectorPath ?? "";
  if (selector === "") return causes;
  const at = child(path, "scale.labelSelectorPath");
  const simple = simplePathCauses(at, selector);
  if (simple.length > 0) return [...causes, ...simple];
  const isBelow = selector.startsWith(".spec.") || selector.startsWith(".status.");
  return isBelow ? causes : [...causes, invalid(at, selector, "should be a json path under either .spec or .status")];
}

function requiredPathCauses(path: string, value: string, root: string): readonly FieldCause[] {
  if (value === "") return [required(path)];
  const simple = simplePathCauses(path, value);
  if (simple.length > 0) return simple;
  return value.startsWith(`${root}.`) ? [] : [invalid(path, value, `should be a json path under ${root}`)];
}

const MAX_SELECTABLE_FIELDS = 8;

export function selectableFieldCauses(paths: readonly string[], schema: JsonSchema | undefined, path: string): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const seen = new Set<string>();
  for (const [position, jsonPath] of paths.entries()) {
    const at = child(index(path, position), "jsonPath");
    if (jsonPath === "") {
      causes.push(required(at));
      continue;
    }
    const found = schema === undefined ? undefined : readFieldPath(jsonPath, schema, false);
    if (found === undefined) continue;
    if (!found.ok) {
      causes.push(invalid(at, jsonPath, `is an invalid path: ${found.error}`));
      continue;
    }
    if (/^metadata(?:[.[]|$)/.test(found.value.path)) causes.push(invalid(at, jsonPath, "must not point to fields in metadata"));
    if (!["string", "boolean", "integer"].includes(found.value.schema?.type ?? "")) {
      const detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
      causes.push(invalid(at, jsonPath, detail));
    }
    if (seen.has(found.value.path)) causes.push(duplicate(at, jsonPath));
    seen.add(found.value.path);
  }
  return seen.size > MAX_SELECTABLE_FIELDS ? [...causes, tooMany(path, seen.size, MAX_SELECTABLE_FIELDS)] : causes;
}

export function conversionCauses(conversion: JsonObject | undefined, path: string): readonly FieldCause[] {
  if (conversion === undefined) return [];
  const strategy = text(conversion, "strategy");
  const webhook = field(conversion, "webhook");
  const client = field(webhook, "clientConfig");
  const versions = stringsOf(field(webhook, "conversionReviewVersions"));
  const at = child(path, "webhookClientConfig");
  const causes: FieldCause[] = [...enumCauses(child(path, "strategy"), strategy, ["None", "Webhook"])];
  if (strategy !== "Webhook") {
    const detail = "should not be set when strategy is not set to Webhook";
    if (isJsonObject(client)) causes.push(forbidden(at, detail));
    if (versions.length > 0) causes.push(forbidden(child(path, "conversionReviewVersions"), detail));
    return causes;
  }
  if (isJsonObject(client)) causes.push(...webhookClientCauses(client, at));
  else causes.push(required(at, "required when strategy is set to Webhook"));
  return [...causes, ...reviewVersionCauses(versions, child(path, "conversionReviewVersions"))];
}

function reviewVersionCauses(versions: readonly string[], path: string): readonly FieldCause[] {
  if (versions.length === 0) return [required(path)];
  const stoodBefore = repeats(versions);
  const causes = versions.flatMap((version, at) => {
    if (stoodBefore(version, at)) return [invalid(index(path, at), version, "duplicate version")];
    return dns1035LabelProblems(version).map((problem) => invalid(index(path, at), version, problem));
  });
  return versions.includes("v1") || versions.includes("v1beta1")
    ? causes
    : [...causes, invalid(path, versions, "must include at least one of v1, v1beta1")];
}

export function enumCauses(path: string, value: string, accepted: readonly string[]): readonly FieldCause[] {
  if (value === "") return [required(path)];
  return accepted.includes(value) ? [] : [notSupported(path, value, accepted)];
}
