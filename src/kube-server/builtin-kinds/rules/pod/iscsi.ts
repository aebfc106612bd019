/** iSCSI volumes: names of initiators and targets have one of three forms. */
import type { JsonObject } from "#kube";
import { at, isTrueAt, numberAt, objectAt, textAt } from "../../draft.ts";
import { inRange, invalid, required, type Causes } from "../causes.ts";

const FORMS: readonly (readonly [string, RegExp])[] = [
  ["iqn", /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/],
  ["eui", /^eui.[A-Za-z0-9]{16}$/],
  ["naa", /^naa.[A-Za-z0-9]{32}$/],
];

export function validateIscsi(source: JsonObject, path: string): Causes {
  const name = textAt(source, "iqn");
  const initiator = at(source, "initiatorName");
  const chap = isTrueAt(source, "chapAuthDiscovery") || isTrueAt(source, "chapAuthSession");
  return [
    ...(textAt(source, "targetPortal") === "" ? [required(`${path}.targetPortal`)] : []),
    ...(name === "" ? [required(`${path}.iqn`)] : validateName(name, `${path}.iqn`)),
    ...inRange(`${path}.lun`, numberAt(source, "lun") ?? 0, [0, 255]),
    ...(chap && objectAt(source, "secretRef") === undefined ? [required(`${path}.secretRef`)] : []),
    // spelled as the server spells it
    ...(typeof initiator === "string" ? validateName(initiator, `${path}.initiatorname`) : []),
  ];
}

function validateName(name: string, path: string): Causes {
  const form = FORMS.find(([prefix]) => name.startsWith(prefix));
  if (form === undefined) return [invalid(path, name, "must be valid format starting with iqn, eui, or naa")];
  return form[1].test(name) ? [] : [invalid(path, name, "must be valid format")];
}
