/** All built-in kinds in all their versions, by "apiVersion/plural" ("v1/pods", "apps/v1/deployments"). */
import { apiVersionOf } from "#kube";
import type { ResourceType } from "../resource-type.ts";
import { builtinDiscovery, type BuiltinResource } from "./discovery.ts";
import type { KindRules } from "./kind-rules.ts";
import { rulesOf } from "./kinds/index.ts";
import { resourceTypeOf } from "./resource-type-of.ts";
import type { ServiceAddresses } from "./service-addresses.ts";

export type BuiltinOptions = {
  /** Where Services get their addresses from; without it they are stored as they come. */
  readonly addresses?: ServiceAddresses | undefined;
};

export function builtinTypes(options: BuiltinOptions = {}): ReadonlyMap<string, ResourceType> {
  const rules = rulesOf(options.addresses);
  return new Map(
    builtinDiscovery().map((found) => [`${apiVersionOf(found)}/${found.plural}`, resourceTypeOf(found, rulesFor(found, rules))]),
  );
}

function rulesFor({ group, kind }: BuiltinResource, rules: ReadonlyMap<string, KindRules>): KindRules {
  return rules.get(`${group}/${kind}`) ?? {};
}
