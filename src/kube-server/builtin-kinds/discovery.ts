/** What discovery says of the built-in kinds, decoded from the committed table when it is first asked for. */
import { once } from "#base";
import { DISCOVERY } from "./generated/discovery.ts";

export type BuiltinSubresource = {
  readonly name: string;
  /** What it speaks: "Scale" in autoscaling/v1. Group and version are "" when they are those of the resource. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly string[];
};

export type BuiltinResource = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly BuiltinSubresource[];
};

/** In the order of Kubernetes' own discovery: groups by priority, versions by preference. */
export const builtinDiscovery = once((): readonly BuiltinResource[] => DISCOVERY.split(/\n(?! )/).map(readResource));

function readResource(block: string): BuiltinResource {
  const [head = "", ...below] = block.split("\n");
  const [apiVersion = "", plural = "", kind = "", singular = "", scope, verbs = "", shortNames = "-", categories = "-"] = head.split(" ");
  const slash = apiVersion.indexOf("/");
  return {
    group: slash < 0 ? "" : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    plural,
    kind,
    singular,
    namespaced: scope === "Namespaced",
    verbs: verbs.split(","),
    shortNames: wordsOf(shortNames),
    categories: wordsOf(categories),
    subresources: below.map(readSubresource),
  };
}

function readSubresource(line: string): BuiltinSubresource {
  const [name = "", spoken = "", verbs = ""] = line.trim().split(" ");
  const [group = "", version = "", kind = ""] = spoken.split("/");
  return { name, kind: { group, version, kind }, verbs: verbs.split(",") };
}

function wordsOf(text: string): readonly string[] {
  return text === "-" ? [] : text.split(",");
}
