/** `status` of a LatticeCluster. It is for users only: controllers read from the child cluster whether the pivot is done. */
import { mapOf } from "../collections.ts";
import { anyText, timestampField } from "../fields.ts";
import { count, observed, statusOf } from "../status.ts";

const CLUSTER_PHASES = ["Pending", "Provisioning", "Pivoting", "Ready", "Deleting", "Unpivoting", "Failed"] as const;

const short = (description: string) => anyText(description, 1_024);

const agent = () =>
  observed("The agent's connection to the parent.", {
    state: short("State the agent last reported.").optional(),
    version: short("Version of the agent.").optional(),
    protocol: short("Version of the protocol that both sides use.").optional(),
    connectedSince: timestampField("When the present connection began.").optional(),
    lastHeartbeat: timestampField("When the agent was last heard.").optional(),
    lastCloseReason: short("Why the last connection ended.").optional(),
  });

const pool = () =>
  observed("A pool of nodes.", {
    desired: count("Nodes that should be there.").optional(),
    ready: count("Nodes that are ready.").optional(),
  });

const pivot = () =>
  observed("How far the move of the Cluster API objects is.", {
    step: short("Step that is under way.").optional(),
    moved: count("Objects that the target has acknowledged.").optional(),
    total: count("Objects in the plan.").optional(),
    startedAt: timestampField("When it began.").optional(),
    finishedAt: timestampField("When it ended.").optional(),
    epoch: count("Number of the ownership that it leads to; it only grows.").optional(),
    request: short("The last request of lattice pivot abort or resume that condition Pivoting answers.").optional(),
    report: anyText("What was moved, what was not, and why.", 32_768).optional(),
  });

export const clusterStatus = () =>
  statusOf(CLUSTER_PHASES, {
    agent: agent().optional(),
    kubernetesVersion: short("Kubernetes version that runs.").optional(),
    readyNodes: count("Nodes that are ready.").optional(),
    totalNodes: count("Nodes there are.").optional(),
    pools: mapOf('Pools by name; "default" is the pool of spec.nodes.workers.', pool(), { max: 64 }).optional(),
    pivot: pivot().optional(),
    endpoint: short("Address of the cluster's API server.").optional(),
    ownedBy: short('Who drives the Cluster API objects: "self", or the name of the cell.').optional(),
  });
