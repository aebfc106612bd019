/** The resource types by name. A later one replaces an earlier one of the same name: a platform team may have its own postgres. */
import { amqpProvisioner, mongodbProvisioner, mysqlProvisioner, postgresProvisioner, redisProvisioner } from "./databases.ts";
import { dnsProvisioner, routeProvisioner, volumeProvisioner } from "./routes-and-volumes.ts";
import { environmentProvisioner } from "./environment.ts";
import { s3Provisioner } from "./object-storage.ts";
import type { Provisioner } from "./provisioner.ts";
import { externalServiceProvisioner, servicePortProvisioner, serviceProvisioner } from "./services.ts";

export type Registry = ReadonlyMap<string, Provisioner>;

const BUILT_IN = [
  serviceProvisioner,
  externalServiceProvisioner,
  servicePortProvisioner,
  postgresProvisioner,
  mysqlProvisioner,
  mongodbProvisioner,
  redisProvisioner,
  amqpProvisioner,
  s3Provisioner,
  routeProvisioner,
  dnsProvisioner,
  volumeProvisioner,
  environmentProvisioner,
];

const WITHOUT_ROUTE: ReadonlySet<Provisioner> = new Set(BUILT_IN.filter((provisioner) => provisioner !== routeProvisioner));

/** Whether a resource of the type can have a route: one of `route`, or of a type that is not built in or was replaced. */
export function canHaveRoute(registry: Registry, type: string): boolean {
  const provisioner = registry.get(type);
  return provisioner !== undefined && !WITHOUT_ROUTE.has(provisioner);
}

export function registryWith(added: readonly Provisioner[] = []): Registry {
  return new Map([...BUILT_IN, ...added].map((provisioner) => [provisioner.type, provisioner]));
}
