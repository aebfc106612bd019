/**
 * Creates the nodes of the options when a cluster starts for the first time. After that the Node objects count: one that a user deleted is
 * not created again by a restart.
 *
 * Namespace kube-system, which cannot be deleted, has the annotation that tells a first start from a later one.
 */
import { ok, type Result } from "#base";
import { namespaces, nodes, type Node } from "#kube";
import type { KubeError } from "#kube-client";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { passOf } from "../../work.ts";
import { annotation, PREFIX } from "../faults/annotations.ts";
import type { SimulatedNode } from "../options.ts";
import { isSimulated, NODE_LABEL } from "./machine.ts";
import type { Machines } from "./machines.ts";
import { nodeObject } from "./node-object.ts";

const MARKER = "first-nodes";
const MARKED = { name: "kube-system" };

export type FirstNodesOptions = { readonly machines: Machines; readonly wanted: readonly SimulatedNode[] };

export function firstNodes({ machines, wanted }: FirstNodesOptions): KubeController {
  return {
    name: "node-creation",
    start(context) {
      context.informers.of(nodes);
      const pass = async () => {
        const created = await createFirstNodes(context, wanted);
        if (created.ok) machines.expectNoMore();
        return passOf(created);
      };
      context.work({ name: "node-creation", pass, concurrency: 1 }).add("nodes of the options");
    },
  };
}

async function createFirstNodes(context: KubeControllerContext, wanted: readonly SimulatedNode[]): Promise<Result<unknown, KubeError>> {
  const { client, informers } = context;
  const marked = await client.get(namespaces, MARKED);
  if (!marked.ok || annotation(marked.value.metadata.annotations ?? {}, MARKER) === "created") return marked;
  for (const node of informers.of(nodes).list().filter(isOfEarlierVersion)) {
    const adopted = await adopt(context, node.metadata.name);
    if (!adopted.ok) return adopted;
  }
  // one after the other: their addresses follow the order of the options
  for (const node of wanted) {
    const created = await client.create(nodes, nodeObject(node));
    const exists = !created.ok && created.error.kind === "already-exists";
    const present = exists ? await adopt(context, node.name) : created;
    if (!present.ok) return present;
  }
  return client.patch(namespaces, MARKED, { type: "merge", patch: { metadata: { annotations: { [`${PREFIX}${MARKER}`]: "created" } } } });
}

/** Earlier versions had the annotation where the label is now. */
function isOfEarlierVersion(node: Node): boolean {
  return !isSimulated(node) && annotation(node.metadata.annotations ?? {}, "node") === "true";
}

async function adopt({ client }: KubeControllerContext, name: string): Promise<Result<unknown, KubeError>> {
  const patch = { metadata: { labels: { [NODE_LABEL]: "true" }, annotations: { [`${PREFIX}node`]: null } } };
  const adopted = await client.patch(nodes, { name }, { type: "merge", patch });
  return !adopted.ok && adopted.error.kind === "not-found" ? ok(undefined) : adopted;
}
