/** The source of the values of one name in `${secrets.*}`: a Secret, or a store that External Secrets reads. It never contains the values. */
import type * as z from "zod";
import { dataKeys, mapOf, object } from "../collections.ts";
import { duration, dnsSubdomain, oneOf, text } from "../fields.ts";
import { localRef } from "../references.ts";
import { exactlyOneOf, withRules } from "../rules.ts";

const external = () =>
  object("Value in a store outside the cluster, which External Secrets reads; it never passes through Lattice.", {
    storeRef: object("Store to read.", {
      kind: oneOf("Kind of the store.", ["SecretStore", "ClusterSecretStore"]).default("SecretStore"),
      name: dnsSubdomain("Name of the store."),
    }),
    key: text("Key in the store, such as a path of Vault.", 1_024),
    refreshInterval: duration("How often the store is read again.").default("1h"),
  });

const sourceFields = {
  secretRef: localRef("Secret in the namespace of the service.").optional(),
  external: external().optional(),
  keys: mapOf("Key that templates use, and key in the source; absent: all keys under their own names.", text("Key in the source.", 1_024), {
    max: 64,
    keys: dataKeys,
  }).optional(),
};

/** `further` adds fields: in a list an item has the field `name`, in a map the name is the key. */
export function secretSource<S extends z.ZodRawShape>(further: S) {
  return withRules(object("Where the values come from.", { ...further, ...sourceFields }), [exactlyOneOf(["secretRef", "external"])]);
}
