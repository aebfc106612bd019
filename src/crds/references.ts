/** References to other objects, and selectors of them, as several kinds use them. */
import { labelKeys, listOf, mapOf, object } from "./collections.ts";
import { dnsSubdomain, labelValue, namespaceName, oneOf, patterned, quantity } from "./fields.ts";
import { withRules } from "./rules.ts";

/** An object of the same namespace. */
export const localRef = (description: string) => object(description, { name: dnsSubdomain("Name of the object.") });

export const namespacedRef = (description: string) =>
  object(description, { name: dnsSubdomain("Name of the object."), namespace: namespaceName("Namespace of the object.") });

export const labelMap = (description: string) => mapOf(description, labelValue("Value of the label."), { max: 64, keys: labelKeys });

const requirement = () =>
  withRules(
    object("One requirement.", {
      key: patterned("Key of the label.", {
        pattern: "^([a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$",
        max: 317,
        message: "must be a label key: an optional DNS prefix and '/', then letters, digits, '-', '_' and '.'",
      }),
      operator: oneOf("How the label is compared.", ["In", "NotIn", "Exists", "DoesNotExist"]),
      values: listOf("What it is compared with.", labelValue("A value."), { max: 64, type: "atomic" }).optional(),
    }),
    [
      {
        cel: "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : !has(self.values) || size(self.values) == 0",
        message: "In and NotIn need values; Exists and DoesNotExist take none",
        field: ["values"],
        holds: ({ operator, values = [] }) => (operator === "In" || operator === "NotIn") === values.length > 0,
      },
    ],
  );

/** As in Kubernetes: all requirements must match, and an empty selector selects everything. */
export const labelSelector = (description: string) =>
  object(description, {
    matchLabels: labelMap("Labels that must be there with these values.").optional(),
    matchExpressions: listOf("Requirements that must hold.", requirement(), { max: 32, type: "atomic" }).optional(),
  });

/** `cpu: 500m`, `memory: 1Gi`, `requests.cpu: 10`, `nvidia.com/gpu: 1`. */
export const quantityMap = (description: string) => mapOf(description, quantity("Amount."), { max: 64, keys: labelKeys });
