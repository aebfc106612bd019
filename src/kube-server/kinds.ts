/** All built-in kinds, with CustomResourceDefinition from custom-resources/. */
import type { KubeObject } from "#kube";
import { builtinTypes, serviceAddresses } from "./builtin-kinds/index.ts";
import { definitionType } from "./custom-resources/index.ts";
import type { ResourceType } from "./resource-type.ts";
import type { Store } from "./store/index.ts";

const SERVICE_RANGE = "10.0.0.0/24";
const DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions";

/** Services get addresses that are unused in this store. */
export function builtinKinds(store: Store): readonly ResourceType[] {
  const addresses = serviceAddresses(SERVICE_RANGE, () => servicesIn(store));
  return [...builtinTypes({ addresses }).values()].map((type) => (type.collection === DEFINITIONS ? definitionType(type) : type));
}

function servicesIn(store: Store): readonly KubeObject[] {
  const listed = store.list("/services");
  return listed.ok ? listed.value.items.map(({ object }) => object) : [];
}
