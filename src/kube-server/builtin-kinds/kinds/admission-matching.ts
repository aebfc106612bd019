/** The parts that policies and their bindings share: what they match, and where their params come from. */
import type { JsonObject } from "#kube";
import { objectAt, objectsAt, textAt } from "../draft.ts";
import { forbidden, invalid, invalidEach, notSupported, required, type Causes } from "../rules/causes.ts";
import { validateNamedRule } from "../rules/admission-rules.ts";
import { dns1035Label, dnsSubdomain, pathSegment } from "../rules/formats.ts";
import { oneOf, validateLabelSelector } from "../rules/shared.ts";

export function validateMatchResources(resources: JsonObject, path: string): Causes {
  const selector = (name: string): Causes => {
    const given = objectAt(resources, name);
    return given === undefined ? [required(`${path}.${name}`)] : validateLabelSelector(given, `${path}.${name}`);
  };
  return [
    ...oneOf(`${path}.matchPolicy`, textAt(resources, "matchPolicy"), ["Equivalent", "Exact"]),
    ...selector("namespaceSelector"),
    ...selector("objectSelector"),
    ...["resourceRules", "excludeResourceRules"].flatMap((list) =>
      objectsAt(resources, list).flatMap((rule, index) => validateNamedRule(rule, `${path}.${list}[${index}]`)),
    ),
  ];
}

export function validateParamKind(kind: JsonObject | undefined, path: string): Causes {
  if (kind === undefined) return [];
  const name = textAt(kind, "kind");
  const wrong = dns1035Label(name.toLowerCase());
  return [
    ...validateApiVersion(textAt(kind, "apiVersion"), `${path}.apiVersion`),
    ...(name === "" ? [required(`${path}.kind`)] : []),
    ...(name !== "" && wrong.length > 0
      ? [invalid(`${path}.kind`, name, `may have mixed case, but should otherwise match: ${wrong.join(",")}`)]
      : []),
  ];
}

function validateApiVersion(apiVersion: string, path: string): Causes {
  if (apiVersion === "") return [required(path)];
  const parts = apiVersion.split("/");
  if (parts.length > 2) return [invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const [group, version] = parts.length === 1 ? ["", apiVersion] : [parts[0] ?? "", parts[1] ?? ""];
  const wrongGroup = group === "" ? [] : dnsSubdomain(group);
  const wrongVersion = version === "" ? [] : dns1035Label(version);
  return [
    ...(wrongGroup.length > 0 ? [invalid(path, group, wrongGroup.join(","))] : []),
    ...(version === "" ? [invalid(path, apiVersion, "version must be specified")] : []),
    ...(wrongVersion.length > 0 ? [invalid(path, version, wrongVersion.join(","))] : []),
  ];
}

export function validateParamRef(ref: JsonObject | undefined, path: string): Causes {
  if (ref === undefined) return [];
  const [name, selector] = [textAt(ref, "name"), objectAt(ref, "selector")];
  const exclusive = (part: string): Causes =>
    name !== "" && selector !== undefined ? [forbidden(`${path}.${part}`, "name and selector are mutually exclusive")] : [];
  const action = textAt(ref, "parameterNotFoundAction");
  return [
    ...(name === "" ? [] : invalidEach(`${path}.name`, name, pathSegment(name))),
    ...exclusive("name"),
    ...(selector === undefined ? [] : validateLabelSelector(selector, `${path}.selector`)),
    ...exclusive("selector"),
    ...(name === "" && selector === undefined ? [required(path, "one of name or selector must be specified")] : []),
    ...(action === "" ? [required(`${path}.parameterNotFoundAction`)] : []),
    ...(action === "" || action === "Deny" || action === "Allow"
      ? []
      : [notSupported(`${path}.parameterNotFoundAction`, action, ["Deny", "Allow"])]),
  ];
}
