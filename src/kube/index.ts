export {
  findCondition,
  isConditionTrue,
  setCondition,
  setConditions,
  type Condition,
  type ConditionStatus,
  type NewCondition,
} from "./conditions.ts";
export {
  canonicalJson,
  depthExceeds,
  field,
  fieldAt,
  isJsonObject,
  jsonEqual,
  MAX_DEPTH,
  parseJson,
  type Json,
  type JsonObject,
  type JsonPrimitive,
} from "./json.ts";
export {
  NAME_RULES,
  parseDataKey,
  parseDnsLabel,
  parseDnsSubdomain,
  parseEnvName,
  parseLabelKey,
  parseLabelValue,
  parseNamespace,
  parsePortName,
  parseServiceName,
  type DataKey,
  type DnsLabel,
  type DnsSubdomain,
  type EnvName,
  type LabelKey,
  type LabelValue,
  type Namespace,
  type PortName,
  type ServiceName,
} from "./names.ts";
export {
  describeObject,
  isBeingDeleted,
  keyOf,
  keyText,
  parseKey,
  type KubeList,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
  type OwnerReference,
} from "./object.ts";
export { addQuantities, compareQuantities, parseQuantity, QUANTITY_PATTERN, quantityToNumber, type Quantity } from "./quantities.ts";
export { apiVersionOf, defineResource, groupResourceOf, pathOf, type Resource, type Subresource } from "./resource.ts";
export { formatSelector, matches, parseSelector, requirementsOf, type LabelSelector, type Requirement } from "./selectors.ts";
export { isStatus, type Status, type StatusCause } from "./status.ts";
export { formatYaml, formatYamlDocuments, MAX_YAML_BYTES, parseYaml, type YamlError, type YamlOptions } from "./yaml.ts";
