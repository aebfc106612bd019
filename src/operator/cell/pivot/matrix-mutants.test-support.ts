/** Changes of the operator's part of a pivot that each break it: one text of one file, and where the crash matrix shows it. */
import { loadChanged, type SourceChange } from "../../../../test/builders/changed-source.ts";
import type { Disturbance, Direction, PivotCounts, PivotPoint } from "./matrix-points.test-support.ts";
import type { MatrixParts } from "./pivot-matrix.test-support.ts";

type Where = {
  readonly direction: Direction;
  readonly disturbance: Disturbance;
  /** Parts of all writes or messages of the move, from 0 to 1. */
  readonly at: readonly number[];
};

export type MatrixMutant = SourceChange & {
  readonly folder: keyof typeof FOLDERS;
  /** Where it is looked for in `npm test`; undefined: an undisturbed move forth and back shows it. */
  readonly where?: Where;
};

const RUNNER = "operator/cell/pivot";
const AGENT = "operator/agent";
const DECISION = "controllers/cluster";
const FOLDERS = { [RUNNER]: "pivot-runner.ts", [AGENT]: "prepare-pivot.ts", [DECISION]: "child-ownership.ts" } as const;

const killed = (at: readonly number[]): Where => ({ direction: "to-child", disturbance: { kind: "cell killed", when: "after" }, at });
const deleted = (at: readonly number[]): Where => ({
  direction: "to-child",
  disturbance: { kind: "killed and deleted", when: "after" },
  at,
});

export const MATRIX_MUTANTS: readonly MatrixMutant[] = [
  {
    name: "a pivot that has failed counts as done, so the child is Ready before it has acknowledged the objects",
    folder: RUNNER,
    file: "pivot-runner.ts",
    find: "    else this.#failed(name, job, ended.value.error ??",
    replace:
      "    else if (job.failures >= 0) this.#succeeded(name, job, undefined);\n    else this.#failed(name, job, ended.value.error ??",
    where: { direction: "to-child", disturbance: { kind: "connection cut", when: "at" }, at: [0.5] },
  },
  {
    name: "the child is not prepared",
    folder: RUNNER,
    file: "pivot-steps.ts",
    find: "const prepared = await prepareChild(context);",
    replace: "const prepared = ok(undefined) as Awaited<ReturnType<typeof prepareChild>>;",
  },
  {
    name: "the LatticeCluster is not copied to the child",
    folder: RUNNER,
    file: "pivot-steps.ts",
    find: "const copied = await copy(context);",
    replace: "const copied = ok(undefined) as Awaited<ReturnType<typeof copyToChild>>;",
  },
  {
    name: "a pivot that is continued replaces the LatticeCluster of a child that owns itself",
    folder: RUNNER,
    file: "copy-cluster.ts",
    find: "if (owner.value) return ok(undefined);",
    replace: "",
    where: killed([0.6, 0.7, 0.8, 0.9]),
  },
  {
    name: "the kubeconfig of one side is moved to the other",
    folder: RUNNER,
    file: "pivot-context.ts",
    find: "leftToTarget: (object) => isKubeconfig(object, name),",
    replace: "leftToTarget: () => false,",
  },
  {
    name: "a deletion does not read the journal of the pivot that has begun",
    folder: RUNNER,
    file: "pivot-steps.ts",
    find: "const pivot = await endPivot(context);",
    replace: 'const pivot = ok("none") as Awaited<ReturnType<typeof endPivot>>;',
    where: deleted([0.2, 0.4]),
  },
  {
    name: "a deletion leaves a pivot that the child has acknowledged unfinished",
    folder: RUNNER,
    file: "pivot-steps.ts",
    find: 'return finished.ok ? ok("finished") : problemOfMove(context, finished.error);',
    replace: 'return finished.ok ? ok("aborted") : problemOfMove(context, finished.error);',
    where: deleted([0.75, 0.9]),
  },
  {
    name: "a child that is released does not get back what was taken back",
    folder: RUNNER,
    file: "pivot-steps.ts",
    find: "if (found.ok) return pivotToChild(context, copyWhereMissing);",
    replace: "if (found.ok) return ended;",
    where: { direction: "to-parent", disturbance: { kind: "killed and released", when: "after" }, at: [0.7, 0.9, 1] },
  },
  {
    name: "an abort that is refused counts as done",
    folder: RUNNER,
    file: "pivot-steps.ts",
    find: "  const child = await readMoveState({ ...context, client: context.child, namespace });",
    replace:
      '  if (namespace !== "") return ok(undefined);\n  const child = await readMoveState({ ...context, client: context.child, namespace });',
    where: { direction: "to-child", disturbance: { kind: "killed and aborted", when: "after" }, at: [0.7, 0.8, 0.9] },
  },
  {
    name: "an unpivot moves the objects to the child",
    folder: RUNNER,
    file: "pivot-context.ts",
    find: 'const [source, target] = direction === "to-child" ? [client, child] : [child, client];',
    replace: "const [source, target] = [client, child];",
  },
  {
    name: "the agent acknowledges a pivot without a kubeconfig of its own",
    folder: AGENT,
    file: "prepare-pivot.ts",
    find: "const written = await writeOwnKubeconfig({ cluster, server: { url, ca }, home }, options);",
    replace: "const written = ok(undefined) as Awaited<ReturnType<typeof writeOwnKubeconfig>>;",
  },
  {
    name: "the parent applies objects while they are moved",
    folder: DECISION,
    file: "child-ownership.ts",
    find: 'if (traces.state === "moving" || isRunning) return "moving";',
    replace: 'if (isRunning) return "moving";',
  },
  {
    name: "a report of an earlier ownership that arrives late counts",
    folder: DECISION,
    file: "child-ownership.ts",
    find: 'if (epoch > takenBack) return "child";',
    replace: 'if (epoch > 0) return "child";',
  },
  {
    name: "a parent that has started again creates objects that it has moved",
    folder: DECISION,
    file: "child-ownership.ts",
    find: 'return hasMoved || registered ? "child" : "parent";',
    replace: 'return hasMoved ? "child" : "parent";',
  },
];

export function loadMatrixMutant(mutant: MatrixMutant): Promise<Partial<MatrixParts>> {
  return loadChanged<Partial<MatrixParts>>(mutant.folder, FOLDERS[mutant.folder], mutant);
}

/** The points where it is looked for in `npm test`. */
export function pointsOfMutant({ where }: MatrixMutant, { cellWrites, messages }: PivotCounts): readonly PivotPoint[] {
  if (where === undefined) return [];
  const { direction, disturbance, at } = where;
  const isCut = disturbance.kind === "connection cut";
  // a cut connection returns at once at an even message, and after the attempt has ended at an odd one
  const offsets = isCut ? [0, 1] : [0];
  const first = (part: number) => Math.max(1, Math.floor((isCut ? messages : cellWrites) * part));
  return at.flatMap((part) => offsets.map((offset) => ({ ...disturbance, direction, index: first(part) + offset })));
}
