/**
 * LatticeServiceConfig: values for `${config.*}`. If several apply, a value for a cluster overrides one for a service,
 * which overrides one for an environment; at the same level the alphabetically last name wins.
 */
import { object } from "./collections.ts";
import { clusterName, dnsLabel, serviceName } from "./fields.ts";
import { defineKind, type ObjectOf } from "./kind.ts";
import { ageColumn, messageColumn, phaseColumn, readyColumn } from "./manifest.ts";
import { exactlyOneOf, withRules } from "./rules.ts";
import { configValues } from "./service/config-values.ts";
import { SIMPLE_PHASES, statusOf } from "./status.ts";

const appliesTo = () =>
  withRules(
    object("Whom the values are for.", {
      environment: dnsLabel("All services of this LatticeEnvironment.").optional(),
      service: serviceName("This LatticeService.").optional(),
      cluster: clusterName("All services on this LatticeCluster.").optional(),
    }),
    [exactlyOneOf(["environment", "service", "cluster"])],
  );

const spec = () =>
  object("Values, and whom they are for.", {
    appliesTo: appliesTo(),
    values: configValues("Values for ${config.*}, by key. Not for secrets: everyone who may read this object sees them."),
  });

const status = () => statusOf(SIMPLE_PHASES, {});

/** Values for `${config.*}`. */
export type LatticeServiceConfig = ObjectOf<"LatticeServiceConfig", ReturnType<typeof spec>, ReturnType<typeof status>>;

export const latticeServiceConfigKind = defineKind<LatticeServiceConfig>({
  kind: "LatticeServiceConfig",
  plural: "latticeserviceconfigs",
  shortName: "lsc",
  namespaced: true,
  purpose: "Values for ${config.*} in services.",
  spec,
  status,
  columns: [
    phaseColumn,
    readyColumn,
    { name: "Environment", type: "string", jsonPath: ".spec.appliesTo.environment", description: "Environment the values are for." },
    { name: "Service", type: "string", jsonPath: ".spec.appliesTo.service", description: "Service the values are for." },
    { name: "Cluster", type: "string", jsonPath: ".spec.appliesTo.cluster", description: "Cluster the values are for." },
    messageColumn,
    ageColumn,
  ],
});

export const latticeServiceConfigs = latticeServiceConfigKind.resource;
export const parseLatticeServiceConfig = latticeServiceConfigKind.parse;
