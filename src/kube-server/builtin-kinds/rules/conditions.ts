/** Conditions of the shape that all newer kinds share (metav1.Condition). */
import { repeats } from "#base";
import type { JsonObject } from "#kube";
import { numberAt, objectsAt, textAt } from "../draft.ts";
import { duplicate, invalid, invalidEach, notSupported, required, tooLong, type Causes } from "./causes.ts";
import { qualifiedName, regexMessage } from "./formats.ts";

const STATUSES = ["False", "True", "Unknown"];
const REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
const REASON_MESSAGE =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
const MAX_REASON = 1_024;
const MAX_MESSAGE = 32_768;

export function validateConditions(status: JsonObject | undefined, path: string): Causes {
  const conditions = objectsAt(status, "conditions");
  const types = conditions.map((condition) => textAt(condition, "type"));
  const stoodBefore = repeats(types);
  return conditions.flatMap((condition, index) => [
    ...(stoodBefore(types[index] ?? "", index) ? [duplicate(`${path}[${index}].type`, types[index])] : []),
    ...validateCondition(condition, `${path}[${index}]`),
  ]);
}

function validateCondition(condition: JsonObject, path: string): Causes {
  const [type, status] = [textAt(condition, "type"), textAt(condition, "status")];
  const generation = numberAt(condition, "observedGeneration") ?? 0;
  return [
    ...invalidEach(`${path}.type`, type, qualifiedName(type)),
    ...(STATUSES.includes(status) ? [] : [notSupported(`${path}.status`, status, STATUSES)]),
    ...(generation < 0 ? [invalid(`${path}.observedGeneration`, generation, "must be greater than or equal to zero")] : []),
    ...(textAt(condition, "lastTransitionTime") === "" ? [required(`${path}.lastTransitionTime`)] : []),
    ...validateReason(textAt(condition, "reason"), `${path}.reason`),
    ...(textAt(condition, "message").length > MAX_MESSAGE ? [tooLong(`${path}.message`, MAX_MESSAGE)] : []),
  ];
}

function validateReason(reason: string, path: string): Causes {
  if (reason === "") return [required(path)];
  const wrong = new RegExp(`^${REASON}$`).test(reason)
    ? []
    : [regexMessage(REASON_MESSAGE, REASON, "my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB")];
  return [...invalidEach(path, reason, wrong), ...(reason.length > MAX_REASON ? [tooLong(path, MAX_REASON)] : [])];
}
