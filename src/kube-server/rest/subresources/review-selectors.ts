/**
 * Selectors of an access review. RBAC does not use them, but they are validated, and unparsable ones are reported as ignored.
 */
import { field, fieldAt, isJsonObject, type JsonObject } from "#kube";
import { objectsAt, textAt, textsAt } from "../../builtin-kinds/draft.ts";
import { invalid, invalidEach, required } from "../../builtin-kinds/rules/causes.ts";
import { labelValue, qualifiedName } from "../../builtin-kinds/rules/formats.ts";
import { validateOperator } from "../../builtin-kinds/rules/shared.ts";
import type { FieldCause } from "../../resource-type.ts";
import { parseFieldTerms } from "../../protocol/field-selector.ts";
import { parseLabelSelector } from "../label-selector.ts";

const PATH = "spec.resourceAttributes";
const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"];

export function selectorCauses(spec: JsonObject): readonly FieldCause[] {
  return [...causesOf(spec, "fieldSelector", fieldCauses), ...causesOf(spec, "labelSelector", labelCauses)];
}

type Causes = readonly FieldCause[];

function causesOf(spec: JsonObject, name: string, requirementCauses: (requirement: JsonObject, path: string) => Causes): Causes {
  const selector = fieldAt(spec, "resourceAttributes", name);
  if (!isJsonObject(selector)) return [];
  const path = `${PATH}.${name}`;
  const [raw, requirements] = [textAt(selector, "rawSelector"), objectsAt(selector, "requirements")];
  return [
    ...(raw !== "" && requirements.length > 0
      ? [invalid(`${path}.rawSelector`, raw, "may not specified at the same time as requirements")]
      : []),
    ...(raw === "" && requirements.length === 0
      ? [required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`)]
      : []),
    ...requirements.flatMap((requirement, index) => requirementCauses(requirement, `${path}.requirements[${index}]`)),
  ];
}

/** Unknown operators are allowed: clients may be newer than this server. */
function operatorCauses(requirement: JsonObject, path: string): Causes {
  const operator = textAt(requirement, "operator");
  return OPERATORS.includes(operator) ? validateOperator(operator, textsAt(requirement, "values"), path) : [];
}

function fieldCauses(requirement: JsonObject, path: string): Causes {
  const keyless = textAt(requirement, "key") === "" ? [required(`${path}.key`, "must be specified")] : [];
  return [...keyless, ...operatorCauses(requirement, path)];
}

function labelCauses(requirement: JsonObject, path: string): Causes {
  const key = textAt(requirement, "key");
  return [
    ...operatorCauses(requirement, path),
    ...invalidEach(`${path}.key`, key, qualifiedName(key)),
    ...textsAt(requirement, "values").flatMap((value, index) => invalidEach(`${path}.values[${index}]`, value, labelValue(value))),
  ];
}

/** Names the selectors that were ignored; "" if none. */
export function selectorsIgnored(spec: unknown): string {
  const attributes = field(spec, "resourceAttributes");
  const fields = field(attributes, "fieldSelector");
  const labels = field(attributes, "labelSelector");
  return [
    ignored("fieldSelector", fields, (raw) => parseFieldTerms(raw).ok, isKnownField),
    ignored("labelSelector", labels, (raw) => parseLabelSelector(raw).ok, isKnownLabel),
  ]
    .filter((text) => text !== "")
    .join("; ");
}

function ignored(name: string, selector: unknown, readable: (raw: string) => boolean, known: (requirement: JsonObject) => boolean): string {
  const raw = textAt(selector, "rawSelector");
  const requirements = objectsAt(selector, "requirements");
  const parsed = requirements.filter(known).length;
  if (raw === "" ? parsed === requirements.length : readable(raw)) return "";
  return `${PATH}.${name} ${parsed > 0 ? "partially " : ""}ignored due to parse error`;
}

function isKnownField(requirement: JsonObject): boolean {
  return ["In", "NotIn"].includes(textAt(requirement, "operator")) && textsAt(requirement, "values").length === 1;
}

function isKnownLabel(requirement: JsonObject): boolean {
  return OPERATORS.includes(textAt(requirement, "operator"));
}
