/** `spec.nodes` of a LatticeCluster: the number of machines and their pools. The number of control planes is odd, because etcd runs on them. */
import type * as z from "zod";
import { dnsLabelKeys, listOf, mapOf, object } from "../collections.ts";
import { integer, labelValue, oneOf, patterned } from "../fields.ts";
import { labelMap } from "../references.ts";
import { withRules, type Rule } from "../rules.ts";
import { diskGiB, instanceType, machineType, vmSize } from "./provider.ts";

const MOST_NODES = 5_000;

const taint = () =>
  object("One taint.", {
    key: patterned("Key of the taint.", {
      pattern: "^([a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$",
      max: 317,
      message: "must be a key, such as dedicated or example.com/dedicated",
    }),
    value: labelValue("Value of the taint.").optional(),
    effect: oneOf("What happens to pods that do not tolerate it.", ["NoSchedule", "PreferNoSchedule", "NoExecute"]),
  });

const poolFields = () =>
  object("A pool of workers.", {
    replicas: integer("Number of nodes; absent: min, or 1 when that is absent too.", 0, MOST_NODES).optional(),
    min: integer("Fewest nodes the autoscaler may leave.", 0, MOST_NODES).optional(),
    max: integer("Most nodes the autoscaler may make.", 1, MOST_NODES).optional(),
    labels: labelMap("Labels of the nodes.").optional(),
    taints: listOf("Taints of the nodes.", taint(), { max: 32, type: { keys: ["key", "effect"] } }).optional(),
    instanceType: instanceType().describe("EC2 instance type, for provider aws; absent: that of provider.aws.workers.").optional(),
    machineType: machineType().describe("Compute Engine machine type, for provider gcp; absent: that of provider.gcp.workers.").optional(),
    vmSize: vmSize().describe("Azure VM size, for provider azure; absent: that of provider.azure.workers.").optional(),
    diskGiB: diskGiB().describe("Size of the root disk in GiB; absent: that of the provider's workers.").optional(),
  });

type Pool = z.output<ReturnType<typeof poolFields>>;

/** The rule holds if one of the numbers is absent. */
const inOrder = (low: "min" | "replicas", high: "replicas" | "max", field: "min" | "replicas"): Rule<Pool> => ({
  cel: `!has(self.${low}) || !has(self.${high}) || self.${low} <= self.${high}`,
  message: `${low} must not be above ${high}`,
  field: [field],
  holds: (pool) => (pool[low] ?? 0) <= (pool[high] ?? Infinity),
});

const pool = () =>
  withRules(poolFields(), [inOrder("min", "max", "min"), inOrder("min", "replicas", "replicas"), inOrder("replicas", "max", "replicas")]);

const controlPlane = () =>
  withRules(integer("Number of control-plane nodes: 1, 3, 5, 7 or 9.", 1, 9), [
    {
      cel: "self % 2 == 1",
      message: "must be odd: with an even number etcd survives no more failures than with one node less",
      holds: (nodes) => nodes % 2 === 1,
    },
  ]);

const workerPools = () =>
  withRules(mapOf("Further pools of workers, by name.", pool(), { max: 32, keys: dnsLabelKeys }), [
    {
      cel: "!('default' in self)",
      message: 'must not have a pool named "default": that is the pool of nodes.workers; use another name',
      violations: (pools) => (Object.hasOwn(pools, "default") ? [["default"]] : []),
    },
  ]);

export const nodes = () =>
  object("How many nodes.", {
    controlPlane: controlPlane(),
    workers: integer('Number of workers in the pool "default".', 0, MOST_NODES),
    workerPools: workerPools().optional(),
  });
