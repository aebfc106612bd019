/**
 * Where the simulator differs from the real managers in what the scenario shows. The rows are in the guide docs/guides/clusters.md, and a test
 * proves that each is a difference.
 */
export type SimulatorDifference = {
  readonly kind: string;
  /** As in the golden file. */
  readonly field: string;
  readonly why: string;
};

export const SIMULATOR_DIFFERENCES: readonly SimulatorDifference[] = [
  {
    kind: "DevCluster",
    field: "annotation inmemorycluster.infrastructure.cluster.x-k8s.io/listener",
    why: "names the listener of the in-memory API server, which the simulator does not have",
  },
  {
    kind: "KubeadmConfig",
    field: "annotation machine.cluster.x-k8s.io/certificates-expiry",
    why: "comes from the serving certificate of an API server, which the simulator does not read",
  },
  {
    kind: "Machine",
    field: "status.certificatesExpiryDate",
    why: "comes from the serving certificate of an API server, which the simulator does not read",
  },
];

/** The text of a story without the lines that a difference names. */
export function withoutDifferences(story: string, differences: readonly SimulatorDifference[] = SIMULATOR_DIFFERENCES): string {
  let kind = "";
  const kept = story.split("\n").filter((line) => {
    if (!line.startsWith("  ")) kind = line.split(" ")[0] ?? "";
    return !differences.some((difference) => difference.kind === kind && line.startsWith(`  ${difference.field}:`));
  });
  return kept.join("\n");
}
