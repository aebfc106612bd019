/** Warns about claims that only one node can mount when there are several pods. */
import type { LatticeServiceSpec } from "#crds";
import type { Warning } from "../errors.ts";
import type { Provisioned } from "../provisioners/index.ts";
import type { Replicas } from "../workload/deployment.ts";

const FOR_MANY_NODES: ReadonlySet<string> = new Set(["ReadWriteMany", "ReadOnlyMany"]);

type Pods = {
  readonly replicas: Replicas;
  readonly spec: LatticeServiceSpec;
  /** Names of claims that containers mount. */ readonly mounted: ReadonlySet<string>;
};

export function claimWarnings(provisioned: ReadonlyMap<string, Provisioned>, { replicas, spec, mounted }: Pods): readonly Warning[] {
  const pods = severalPods(replicas, spec);
  if (pods === undefined) return [];
  return [...provisioned].flatMap(([name, { claim }]): readonly Warning[] => {
    if (claim === undefined || !mounted.has(claim.name) || claim.accessModes.some((mode) => FOR_MANY_NODES.has(mode))) return [];
    const place = `spec.resources.${name}`;
    const what = `a claim with access mode ${claim.accessModes.join(", ")} is mounted on one node at a time, and ${pods}`;
    const effect = "pods on other nodes do not start, and an update waits for them";
    return [{ place, message: `${what}: ${effect}; set params.accessModes: [ReadWriteMany], or run one pod` }];
  });
}

/** undefined: there is only one pod. */
function severalPods({ min, max }: Replicas, { deploy }: LatticeServiceSpec): string | undefined {
  if (max !== undefined && max > 1) return `there are up to ${max} pods (spec.replicas.max)`;
  if (min > 1) return `there are ${min} pods (spec.replicas.min)`;
  return deploy?.strategy === "canary" ? "a canary runs beside the primary (spec.deploy.strategy)" : undefined;
}
