/** What a pass of a machine has observed. */
import type { Node } from "#kube";
import type { CapiObject } from "../objects.ts";

/** "unknown": the child cannot be asked, so absence proves nothing. */
export type NodeKnowledge = "known" | "unknown";

export type MachineParts = {
  readonly cluster: CapiObject;
  readonly config: CapiObject | undefined;
  readonly infrastructure: CapiObject | undefined;
  readonly node: Node | undefined;
  readonly knowledge: NodeKnowledge;
};
