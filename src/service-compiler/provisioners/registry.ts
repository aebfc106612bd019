/** The types of resources that there are, by name. One added later replaces one of the same type: a platform team may have its own postgres. */
import { amqpProvisioner, mongodbProvisioner, mysqlProvisioner, postgresProvisioner, redisProvisioner } from "./databases.ts";
import { dnsProvisioner, routeProvisioner, volumeProvisioner } from "./doors.ts";
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

export function registryWith(added: readonly Provisioner[] = []): Registry {
  return new Map([...BUILT_IN, ...added].map((provisioner) => [provisioner.type, provisioner]));
}
