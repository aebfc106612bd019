/** The spec of a PersistentVolumeClaim: in a claim, and in the templates of a StatefulSet. */
import type { JsonObject } from "#kube";
import { objectAt, textAt, textsAt } from "../draft.ts";
import { forbidden, invalid, notSupported, required, type Causes } from "./causes.ts";
import { dnsSubdomain } from "./formats.ts";
import { quantityOf } from "./pod/resources.ts";
import { ifSetOneOf, textIfSet, validateLabelSelector } from "./shared.ts";

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
export const VOLUME_MODES = ["Block", "Filesystem"];

export function validateClaimSpec(spec: JsonObject, path: string): Causes {
  const modes = validateAccessModes(spec, path, "at least 1 access mode is required");
  return [
    ...modes.filter(({ reason }) => reason === "FieldValueRequired"),
    ...validateLabelSelector(objectAt(spec, "selector"), `${path}.selector`),
    ...modes.filter(({ reason }) => reason !== "FieldValueRequired"),
    ...validateStorage(spec, path),
    ...textIfSet(`${path}.storageClassName`, textAt(spec, "storageClassName"), dnsSubdomain),
    ...ifSetOneOf(`${path}.volumeMode`, spec["volumeMode"], VOLUME_MODES),
    ...validateSources(spec, path),
  ];
}

/** Two names for one thing must say the same. The server shows an empty struct here: it quotes a path, not the value. */
function validateSources(spec: JsonObject, path: string): Causes {
  const [source, ref] = [objectAt(spec, "dataSource"), objectAt(spec, "dataSourceRef")];
  if (source === undefined || ref === undefined) return [];
  if (textAt(ref, "namespace") !== "") return [invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified")];
  const same = ["apiGroup", "kind", "name"].every((name) => textAt(source, name) === textAt(ref, name));
  return same ? [] : [invalid(path, {}, "must match dataSourceRef")];
}

export function validateAccessModes(spec: JsonObject, path: string, detail: string): Causes {
  const modes = textsAt(spec, "accessModes");
  const alone = modes.includes("ReadWriteOncePod") && modes.some((mode) => mode !== "ReadWriteOncePod" && ACCESS_MODES.includes(mode));
  return [
    ...(modes.length === 0 ? [required(`${path}.accessModes`, detail)] : []),
    ...modes.filter((mode) => !ACCESS_MODES.includes(mode)).map((mode) => notSupported(`${path}.accessModes`, mode, ACCESS_MODES)),
    ...(alone ? [forbidden(`${path}.accessModes`, "may not use ReadWriteOncePod with other access modes")] : []),
  ];
}

function validateStorage(spec: JsonObject, path: string): Causes {
  const amount = textAt(spec, "resources", "requests", "storage");
  if (amount === "") return [required(`${path}.resources[storage]`)];
  return (quantityOf(amount) ?? 0n) > 0n ? [] : [invalid(`${path}.resources[storage]`, amount, "must be greater than zero")];
}
