/** `environment`, as a map or as a list of `NAME=value`. */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { asTemplate, scalarText } from "./text.ts";
import type { Notices } from "./notice.ts";

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const SENSITIVE = /(PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|PRIVATE_?KEY|CREDENTIALS?)$/i;

export function variablesOf(environment: Json | undefined, notices: Notices): JsonObject {
  const variables = new Map<string, string>();
  for (const { name, value, at } of entriesOf(environment, notices)) {
    const text = scalarText(value, notices.at(at));
    if (!NAME.test(name) || name === "__proto__")
      notices.at(at).warn(`${JSON.stringify(name)} is not a valid variable name (letters, digits and _), and is left out`);
    else if (text === undefined) notices.at(at).warn(`${name} takes its value from the shell, and is left out; write the value`);
    else variables.set(name, asTemplate(text));
    if (text !== undefined && text !== "" && SENSITIVE.test(name))
      notices.at(at).warn(`${name} looks like a secret and is stored as plain text; read it from a Secret through LatticeSecretBindings`);
  }
  return Object.fromEntries(variables);
}

type Entry = { readonly name: string; readonly value: Json; readonly at: string | number };

function entriesOf(environment: Json | undefined, notices: Notices): readonly Entry[] {
  if (environment === undefined || environment === null) return [];
  if (isJsonObject(environment)) return Object.entries(environment).map(([name, value]) => ({ name, value: value ?? null, at: name }));
  if (!Array.isArray(environment)) return notices.warn("is neither a map nor a list, and is left out") ?? [];
  return environment.flatMap((item: Json, at): readonly Entry[] => {
    if (typeof item !== "string") return notices.at(at).warn("is no NAME=value, and is left out") ?? [];
    const split = item.indexOf("=");
    return [split === -1 ? { name: item, value: null, at } : { name: item.slice(0, split), value: item.slice(split + 1), at }];
  });
}
