/** LatticeSecretBindings: names for `${secrets.*}` and where their values are. It holds references only, so it may be read by people who may not see the secrets. */
import { dnsLabelKeys, mapOf, object } from "./collections.ts";
import { serviceName } from "./fields.ts";
import { defineKind, type ObjectOf } from "./kind.ts";
import { ageColumn, messageColumn, phaseColumn, readyColumn } from "./manifest.ts";
import { secretSource } from "./service/secret-source.ts";
import { SIMPLE_PHASES, statusOf } from "./status.ts";

const spec = () =>
  object("Bindings, and whom they are for.", {
    service: serviceName("LatticeService that the bindings are for; absent: all of the namespace.").optional(),
    bindings: mapOf("Bindings by name: ${secrets.NAME.KEY}.", secretSource({}), { max: 64, keys: dnsLabelKeys, notEmpty: true }),
  });

const status = () => statusOf(SIMPLE_PHASES, {});

/** Values for `${secrets.*}`. */
export type LatticeSecretBindings = ObjectOf<"LatticeSecretBindings", ReturnType<typeof spec>, ReturnType<typeof status>>;

export const latticeSecretBindingsKind = defineKind<LatticeSecretBindings>({
  kind: "LatticeSecretBindings",
  plural: "latticesecretbindings",
  shortName: "lsb",
  namespaced: true,
  purpose: "Names for ${secrets.*} in services, and where their values are.",
  spec,
  status,
  columns: [
    phaseColumn,
    readyColumn,
    { name: "Service", type: "string", jsonPath: ".spec.service", description: "Service the bindings are for; empty: all." },
    messageColumn,
    ageColumn,
  ],
});

export const latticeSecretBindings = latticeSecretBindingsKind.resource;
export const parseLatticeSecretBindings = latticeSecretBindingsKind.parse;
