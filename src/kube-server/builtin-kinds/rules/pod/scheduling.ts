/** Where a Pod may run: tolerations, affinity, topology spread. */
import type { JsonObject } from "#kube";
import { at, numberAt, objectAt, objectsAt, textAt, textsAt } from "../../draft.ts";
import { duplicate, invalid, invalidEach, joined, notSupported, required, type Causes } from "../causes.ts";
import { dnsLabel, labelValue, qualifiedName } from "../formats.ts";
import { ifSetOneOf, validateLabelSelector, validateOperator } from "../shared.ts";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

export function validateTolerations(spec: JsonObject, path: string): Causes {
  return objectsAt(spec, "tolerations").flatMap((toleration, index) => validateToleration(toleration, `${path}[${index}]`));
}

function validateToleration(toleration: JsonObject, path: string): Causes {
  const [key, operator, effect] = [textAt(toleration, "key"), textAt(toleration, "operator"), textAt(toleration, "effect")];
  const keyless = key === "" && operator !== "Exists";
  const timed = at(toleration, "tolerationSeconds") !== undefined && effect !== "NoExecute";
  return joined(
    key === "" ? [] : invalidEach(`${path}.key`, key, qualifiedName(key)),
    keyless
      ? [invalid(`${path}.operator`, operator, 'operator must be Exists when `key` is empty, which means "match all values and all keys"')]
      : [],
    timed ? [invalid(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")] : [],
    validateTolerationValue(operator, textAt(toleration, "value"), path),
    effect === "" || EFFECTS.includes(effect) ? [] : [notSupported(`${path}.effect`, effect, EFFECTS)],
  );
}

function validateTolerationValue(operator: string, value: string, path: string): Causes {
  switch (operator) {
    case "":
    case "Equal": {
      const messages = labelValue(value);
      return messages.length === 0 ? [] : [invalid(`${path}.operator`, value, messages.join(";"))];
    }
    case "Exists":
      return value === "" ? [] : [invalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'")];
    case "Lt":
    case "Gt":
      return [notSupported(`${path}.operator`, operator, ["Equal", "Exists", "Lt", "Gt"])];
    default:
      return [notSupported(`${path}.operator`, operator, ["Equal", "Exists"])];
  }
}

export function validateTopologySpread(spec: JsonObject, path: string): Causes {
  const constraints = objectsAt(spec, "topologySpreadConstraints");
  return constraints.flatMap((constraint, index) => {
    const here = `${path}[${index}]`;
    const [key, when, skew] = [
      textAt(constraint, "topologyKey"),
      textAt(constraint, "whenUnsatisfiable"),
      numberAt(constraint, "maxSkew") ?? 0,
    ];
    const again = constraints
      .slice(index + 1)
      .some((other) => textAt(other, "topologyKey") === key && textAt(other, "whenUnsatisfiable") === when);
    return joined(
      skew <= 0 ? [invalid(`${here}.maxSkew`, skew, "must be greater than zero")] : [],
      validateSpreadKey(key, `${here}.topologyKey`),
      ifSetOneOf(`${here}.whenUnsatisfiable`, when, ["DoNotSchedule", "ScheduleAnyway"]),
      again ? [duplicate(`${here}.{topologyKey, whenUnsatisfiable}`, `{${key}, ${when}}`)] : [],
      validateMinDomains(constraint, when, `${here}.minDomains`),
      ifSetOneOf(`${here}.nodeAffinityPolicy`, constraint["nodeAffinityPolicy"], ["Honor", "Ignore"]),
      ifSetOneOf(`${here}.nodeTaintsPolicy`, constraint["nodeTaintsPolicy"], ["Honor", "Ignore"]),
      validateLabelSelector(objectAt(constraint, "labelSelector"), `${here}.labelSelector`),
    );
  });
}

function validateSpreadKey(key: string, path: string): Causes {
  return key === "" ? [required(path, "can not be empty")] : [];
}

function validateMinDomains(constraint: JsonObject, when: string, path: string): Causes {
  const domains = numberAt(constraint, "minDomains");
  if (domains === undefined) return [];
  return joined(
    domains <= 0 ? [invalid(path, domains, "must be greater than zero")] : [],
    when === "DoNotSchedule" ? [] : [invalid(path, domains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${when}`)],
  );
}

export function validateAffinity(spec: JsonObject, path: string): Causes {
  const affinity = objectAt(spec, "affinity");
  if (affinity === undefined) return [];
  return joined(
    validateNodeAffinity(objectAt(affinity, "nodeAffinity"), `${path}.nodeAffinity`),
    validatePodAffinity(objectAt(affinity, "podAffinity"), `${path}.podAffinity`),
    validatePodAffinity(objectAt(affinity, "podAntiAffinity"), `${path}.podAntiAffinity`),
  );
}

function validateNodeAffinity(affinity: JsonObject | undefined, path: string): Causes {
  const wanted = objectAt(affinity, REQUIRED);
  return joined(
    wanted === undefined ? [] : validateNodeSelector(wanted, `${path}.${REQUIRED}`),
    objectsAt(affinity, PREFERRED).flatMap((term, index) =>
      joined(
        validateWeight(term, `${path}.${PREFERRED}[${index}].weight`),
        validateNodeTerm(objectAt(term, "preference") ?? {}, `${path}.${PREFERRED}[${index}].preference`, false),
      ),
    ),
  );
}

function validateNodeSelector(selector: JsonObject, path: string): Causes {
  const terms = objectsAt(selector, "nodeSelectorTerms");
  if (terms.length === 0) return [required(`${path}.nodeSelectorTerms`, "must have at least one node selector term")];
  return terms.flatMap((term, index) => validateNodeTerm(term, `${path}.nodeSelectorTerms[${index}]`, true));
}

function validateNodeTerm(term: JsonObject, path: string, checkValues: boolean): Causes {
  return objectsAt(term, "matchExpressions").flatMap((expression, index) => {
    const here = `${path}.matchExpressions[${index}]`;
    const [operator, values, key] = [textAt(expression, "operator"), textsAt(expression, "values"), textAt(expression, "key")];
    const compares = operator === "Gt" || operator === "Lt";
    return joined(
      compares ? [] : validateOperator(operator, values, here),
      compares && values.length !== 1 ? [required(`${here}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")] : [],
      invalidEach(`${here}.key`, key, qualifiedName(key)),
      checkValues ? values.flatMap((value, at) => invalidEach(`${here}.values[${at}]`, value, labelValue(value))) : [],
    );
  });
}

function validateWeight(term: JsonObject, path: string): Causes {
  const weight = numberAt(term, "weight") ?? 0;
  return weight < 1 || weight > 100 ? [invalid(path, weight, "must be in the range 1-100")] : [];
}

function validatePodAffinity(affinity: JsonObject | undefined, path: string): Causes {
  return joined(
    objectsAt(affinity, REQUIRED).flatMap((term, index) => validatePodTerm(term, `${path}.${REQUIRED}[${index}]`)),
    objectsAt(affinity, PREFERRED).flatMap((term, index) =>
      joined(
        validateWeight(term, `${path}.${PREFERRED}[${index}].weight`),
        validatePodTerm(objectAt(term, "podAffinityTerm") ?? {}, `${path}.${PREFERRED}[${index}].podAffinityTerm`),
      ),
    ),
  );
}

function validatePodTerm(term: JsonObject, path: string): Causes {
  const key = textAt(term, "topologyKey");
  return joined(
    validateLabelSelector(objectAt(term, "labelSelector"), `${path}.labelSelector`),
    validateLabelSelector(objectAt(term, "namespaceSelector"), `${path}.namespaceSelector`),
    textsAt(term, "namespaces").flatMap((name) => invalidEach(`${path}.namespace`, name, dnsLabel(name))),
    key === "" ? [required(`${path}.topologyKey`, "can not be empty")] : [],
    invalidEach(`${path}.topologyKey`, key, qualifiedName(key)),
  );
}
