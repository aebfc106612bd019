/** The plan of a move for people, and for programs. */
import { describeObject } from "#kube";
import { batchesOf, type MoveNode, type KeptBecause, type PlannedMove } from "#pivot";

const KEPT: Readonly<Record<KeptBecause, string>> = {
  "cluster-scoped": "cluster-scoped, or belongs to a cluster-scoped object",
  "other-namespace": "of another namespace",
  "used-elsewhere": "used by Clusters of other namespaces",
};
const MOST_LEFT = 20;

export function planText(namespace: string, { moved, left, problems, unfinished }: PlannedMove): string {
  if (moved.length === 0 && unfinished === undefined) return `nothing to move in namespace ${namespace}\n`;
  const batches = batchesOf(moved);
  const lines = batches.map(({ number, nodes }) => `batch ${number + 1}: ${countsOf(nodes)}\n`);
  const kept = moved.flatMap(({ object, kept: why }) => (why === undefined ? [] : [`  ${describeObject(object)} (${KEPT[why]})\n`]));
  const leftLines = left.slice(0, MOST_LEFT).map((object) => `  ${describeObject(object)}\n`);
  const more = left.length > MOST_LEFT ? [`  and ${left.length - MOST_LEFT} more\n`] : [];
  return [
    ...(unfinished === undefined ? [] : [`an unfinished move (${unfinished}) is continued by the next run\n`]),
    `${moved.length} objects of namespace ${namespace} in ${batches.length} batches, owners first:\n`,
    ...lines,
    ...titled("copied, and kept at the source:\n", kept),
    ...titled("not moved (no Cluster, ClusterClass or ClusterResourceSet owns them, and they have no move label):\n", [
      ...leftLines,
      ...more,
    ]),
    ...(unfinished === undefined
      ? titled(
          "the move would be refused:\n",
          problems.map((problem) => `  ${problem}\n`),
        )
      : []),
  ].join("");
}

function titled(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines];
}

function countsOf(nodes: readonly MoveNode[]): string {
  const counts = new Map<string, number>();
  for (const { object } of nodes) counts.set(object.kind, (counts.get(object.kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(", ");
}

export function planJson(namespace: string, { moved, left, problems, unfinished }: PlannedMove) {
  const nameOf = ({ apiVersion, kind, metadata }: MoveNode["object"]) => ({ apiVersion, kind, ...placeOf(metadata) });
  const objects = batchesOf(moved).flatMap(({ number, nodes }) =>
    nodes.map(({ object, kept }) => ({ ...nameOf(object), batch: number + 1, ...(kept === undefined ? {} : { kept }) })),
  );
  return { namespace, ...(unfinished === undefined ? {} : { unfinished }), objects, notMoved: left.map(nameOf), problems };
}

function placeOf({ namespace, name }: MoveNode["object"]["metadata"]) {
  return { ...(namespace === undefined ? {} : { namespace }), name };
}
