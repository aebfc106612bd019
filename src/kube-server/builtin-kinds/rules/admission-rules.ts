/** The rules by which webhooks and policies say what they look at: groups, versions, resources, operations. */
import { repeats } from "#base";
import type { JsonObject } from "#kube";
import { textsAt } from "../draft.ts";
import { duplicate, invalid, invalidEach, notSupported, required, type Causes } from "./causes.ts";
import { pathSegment } from "./formats.ts";
import { ifSetOneOf } from "./shared.ts";

const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];
const WORDS = { operations: "operations", apiGroups: "API groups", apiVersions: "API versions" } as const;

export function validateRule(rule: JsonObject, path: string): Causes {
  const listed = (name: keyof typeof WORDS): Causes => {
    const texts = textsAt(rule, name);
    const starred = texts.length > 1 && texts.includes("*");
    return [
      ...(texts.length === 0 ? [required(`${path}.${name}`)] : []),
      ...(starred ? [invalid(`${path}.${name}`, [...texts], `if '*' is present, must not specify other ${WORDS[name]}`)] : []),
    ];
  };
  return [
    ...listed("operations"),
    ...textsAt(rule, "operations").flatMap((operation, index) =>
      OPERATIONS.includes(operation) ? [] : [notSupported(`${path}.operations[${index}]`, operation, OPERATIONS)],
    ),
    ...listed("apiGroups"),
    ...listed("apiVersions"),
    ...textsAt(rule, "apiVersions").flatMap((version, index) => (version === "" ? [required(`${path}.apiVersions[${index}]`)] : [])),
    ...validateResources(textsAt(rule, "resources"), `${path}.resources`),
    ...ifSetOneOf(`${path}.scope`, rule["scope"], SCOPES),
  ];
}

function validateResources(resources: readonly string[], path: string): Causes {
  const plain = resources.filter((resource) => resource !== "" && !resource.includes("/"));
  const stoodBefore = repeats(resources);
  return [
    ...(resources.length === 0 ? [required(path)] : []),
    ...resources.flatMap((resource, index) =>
      resource === ""
        ? [required(`${path}[${index}]`)]
        : coveredBefore(resource, index, stoodBefore).map((why) => invalid(`${path}[${index}]`, resource, why)),
    ),
    ...(resources.length > 1 && resources.includes("*/*")
      ? [invalid(path, [...resources], "if '*/*' is present, must not specify other resources")]
      : []),
    // as the real server has it: only the last plain name is looked at
    ...(plain.includes("*") && plain.at(-1) !== "*"
      ? [invalid(path, [...resources], "if '*' is present, must not specify other resources without subresources")]
      : []),
  ];
}

/** A wildcard for all subresources, or for all resources, came earlier: this one says nothing new. */
function coveredBefore(own: string, index: number, stoodBefore: (resource: string, at: number) => boolean): readonly string[] {
  const slash = own.indexOf("/");
  if (slash < 0) return [];
  const [resource, subresource] = [own.slice(0, slash), own.slice(slash + 1)];
  return [`${resource}/*`, `*/${subresource}`]
    .filter((wide) => stoodBefore(wide, index))
    .map((wide) => `if '${wide}' is present, must not specify ${own}`);
}

/** Rules of policies may also name objects. */
export function validateNamedRule(rule: JsonObject, path: string): Causes {
  const names = textsAt(rule, "resourceNames");
  const stoodBefore = repeats(names);
  const ofNames = names.flatMap((name, index) => [
    ...invalidEach(`${path}.resourceNames[${index}]`, name, pathSegment(name)),
    ...(stoodBefore(name, index) ? [duplicate(`${path}.resourceNames[${index}]`, name)] : []),
  ]);
  return [...ofNames, ...validateRule(rule, path)];
}
