/** The types of resources that there are, by name. One added later replaces one of the same type: a platform team may have its own postgres. */
import { postgresProvisioner, redisProvisioner } from "./databases.ts";
import { dnsProvisioner, routeProvisioner, volumeProvisioner } from "./doors.ts";
import type { Provisioner } from "./provisioner.ts";
import { externalServiceProvisioner, serviceProvisioner } from "./services.ts";

export type Registry = ReadonlyMap<string, Provisioner>;

const BUILT_IN = [
  serviceProvisioner,
  externalServiceProvisioner,
  postgresProvisioner,
  redisProvisioner,
  routeProvisioner,
  dnsProvisioner,
  volumeProvisioner,
];

export function registryWith(added: readonly Provisioner[] = []): Registry {
  return new Map([...BUILT_IN, ...added].map((provisioner) => [provisioner.type, provisioner]));
}
