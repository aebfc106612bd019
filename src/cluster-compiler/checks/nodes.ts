/** Numbers of machines, certificate names, and how machines are replaced. */
import { isIpv4, isIpv6, type LatticeCluster } from "#crds";
import { parseDnsSubdomain } from "#kube";
import type { ClusterSpecError } from "../errors.ts";
import type { ClusterContext } from "../input.ts";
import { mostNodes } from "../pools.ts";
import { drainSeconds } from "../upgrade.ts";

/** What Kubernetes is tested with. */
const MOST_NODES = 5_000;
const MOST_SECONDS = 2 ** 31 - 1;

export function checkNodes(cluster: LatticeCluster, context: ClusterContext): readonly ClusterSpecError[] {
  return [...checkCounts(cluster, context), ...checkUpgrade(cluster), ...checkCertSans(cluster)];
}

function checkCounts({ spec: { nodes } }: LatticeCluster, { pools }: ClusterContext): readonly ClusterSpecError[] {
  const errors: ClusterSpecError[] = [];
  if (nodes.controlPlane % 2 === 0) {
    const message = `must be odd and is ${nodes.controlPlane}: etcd runs on these machines; use ${nodes.controlPlane + 1}`;
    errors.push({ reason: "ControlPlaneEven", path: "spec.nodes.controlPlane", message });
  }
  // without the machines that a rollout adds
  const most = mostNodes(nodes, pools) - 1 - pools.filter(({ replicas, bounds }) => Math.max(replicas, bounds?.max ?? 0) > 0).length;
  if (most > MOST_NODES) {
    const message = `can become ${most} nodes, and Kubernetes supports ${MOST_NODES} in one cluster; lower workers, or replicas and max of the pools`;
    errors.push({ reason: "TooManyNodes", path: "spec.nodes", message });
  }
  return errors;
}

function checkUpgrade({ spec: { upgrade } }: LatticeCluster): readonly ClusterSpecError[] {
  const errors: ClusterSpecError[] = [];
  const seconds = drainSeconds(upgrade);
  const path = "spec.upgrade.drainTimeout";
  if (seconds === 0) {
    const message = "is 0, which Cluster API reads as no limit; give at least 1s, or remove it to wait without a limit";
    errors.push({ reason: "UpgradeInvalid", path, message });
  }
  if (seconds !== undefined && seconds > MOST_SECONDS) {
    errors.push({
      reason: "UpgradeInvalid",
      path,
      message: `is longer than Cluster API can store (${MOST_SECONDS}s); give less, such as 1h`,
    });
  }
  const unavailable = upgrade?.maxUnavailable;
  if (typeof unavailable === "string" && Number.parseInt(unavailable, 10) > 100) {
    const message = `is ${unavailable}; a pool cannot miss more than 100% of its machines`;
    errors.push({ reason: "UpgradeInvalid", path: "spec.upgrade.maxUnavailable", message });
  }
  return errors;
}

/** kubeadm accepts names in lower case, wildcards of one level, and addresses. */
function checkCertSans({ spec: { provider } }: LatticeCluster): readonly ClusterSpecError[] {
  return (provider.kubernetes.certSANs ?? []).flatMap((name, at): readonly ClusterSpecError[] => {
    if (isIpv4(name) || isIpv6(name)) return [];
    const plain = name.replace(/^\*\./, "");
    if (parseDnsSubdomain(plain).ok && !/(^|\.)[0-9]+$/.test(plain)) return [];
    const message = `"${name}" is neither a DNS name in lower case nor an IP address; kubeadm would refuse it, so correct or remove it`;
    return [{ reason: "CertSanInvalid", path: `spec.provider.kubernetes.certSANs[${at}]`, message }];
  });
}
