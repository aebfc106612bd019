/** Every change of an installation, or of its reverse, that would break it is found by its crash matrix: at points that are known to show it here, at all of them in `npm run test:long`. */
import { describe, expect, test } from "vitest";
import { loadChanged, type SourceChange } from "../../test/builders/changed-source.ts";
import type { Kill } from "../../test/builders/mortal-process.ts";
import { roundsOf } from "../../test/builders/rounds.ts";
import { runKilled, type Commands, type InstallMatrix, type KilledRun } from "./install-crashes.test-support.ts";

type Mutant = SourceChange & {
  readonly matrix: InstallMatrix;
  /** The text of what is wrong. */
  readonly shows: RegExp;
  /** Kills that show it; absent: a run that is not killed does. */
  readonly kills?: readonly Kill[];
};

const INSTALL: InstallMatrix = { command: "install", atEnd: "removed" };
const UNINSTALL: InstallMatrix = { command: "uninstall", atEnd: "removed" };
const after = (...writes: readonly number[]): readonly Kill[] => writes.map((write) => ({ write, when: "after" }));
/** A changed installation may never end. */
const MOST_LOOKS = 600;
const IS_WHOLE = roundsOf({ sample: 0, long: 1 }) === 1;

const MUTANTS: readonly Mutant[] = [
  {
    name: "the bootstrap cluster is removed before the move has ended",
    file: "decide.ts",
    find: 'if (ownership !== "never-moved") return wait("the bootstrap cluster finishes the move");\n  const [first] = objects;',
    replace: "const first = objects[objects.length];\n  void ownership;",
    matrix: INSTALL,
    shows: /the bootstrap cluster is removed with/,
  },
  {
    name: "the configuration of the parent is left",
    file: "decide.ts",
    find: 'if (hasParent) return { step: "detach" };',
    replace: "void hasParent;",
    matrix: INSTALL,
    shows: /it has a parent/,
  },
  {
    name: "a parent in the spec alone is not seen after a crash",
    file: "observe.ts",
    find: "hasParent: parent.value !== undefined || own?.spec.cellRef !== undefined,",
    replace: "hasParent: parent.value !== undefined,",
    matrix: INSTALL,
    shows: /it has a parent/,
    kills: after(5),
  },
  {
    name: "the installation does not recognise its own LatticeCluster",
    file: "steps.ts",
    find: "const annotations = { ...cluster.metadata.annotations, [INSTALLED_ANNOTATION]: INSTALLER };",
    replace: "const annotations = { ...cluster.metadata.annotations, [INSTALLED_ANNOTATION]: String(INSTALLER.length) };",
    matrix: INSTALL,
    shows: /was not created by lattice install/,
  },
  {
    name: "a bootstrap cluster that stays takes the objects back that it has moved",
    file: "steps.ts",
    find: "const kept = await patchCluster(client.value, name, { spec: { deletion: { unpivot: false } } });",
    replace: "const kept = ok(undefined) as Awaited<Performed>;",
    matrix: { command: "install", atEnd: "kept" },
    shows: /is to take the objects back/,
  },
  {
    name: "the namespace of a run that was killed is left in a bootstrap cluster that stays",
    file: "observe.ts",
    find: "hasNamespace: place.value !== undefined && !isBeingDeleted(place.value),",
    replace: "hasNamespace: false,",
    matrix: { command: "install", atEnd: "kept" },
    shows: /namespace capi-mgmt is left/,
    kills: after(7),
  },
  {
    name: "machines are deleted before the bootstrap cluster owns them",
    file: "decide.ts",
    find: '  if (bootstrap.state === "there" && management.state === "there") {',
    replace:
      '  if (bootstrap.state === "there" && bootstrap.view.objects.length > 0) return deletionStep(bootstrap.view);\n  if (bootstrap.state === "there" && management.state === "there") {',
    matrix: UNINSTALL,
    shows: /the machines are deleted/,
    kills: after(30, 50),
  },
  {
    name: "the bootstrap cluster is removed while machines are being deleted",
    file: "decide.ts",
    find: "return isDeleting ? wait(`${objects.length} Cluster API objects are being deleted`)",
    replace: 'return isDeleting ? { step: "remove-bootstrap" }',
    matrix: UNINSTALL,
    shows: /the bootstrap cluster is removed with/,
  },
  {
    name: "a move back that has begun is not continued",
    file: "decide.ts",
    find: 'if (isMoving) return { step: "move-back" };',
    replace: "void isMoving;",
    matrix: UNINSTALL,
    shows: /a move of mgmt to another cluster has begun/,
    kills: after(30),
  },
  {
    name: "a bootstrap cluster cannot reach the cluster whose machines it deletes",
    file: "steps.ts",
    find: "const prepared = await writeAccess(context, target.value, namespace);",
    replace: "const prepared = ok(undefined) as Awaited<ReturnType<typeof writeAccess>>;",
    matrix: UNINSTALL,
    shows: /has no Secret capi-mgmt.mgmt-kubeconfig/,
  },
];

/** Undefined: a run that is not killed. */
async function* runs({ matrix, kills = [] }: Mutant, commands: Commands): AsyncGenerator<KilledRun> {
  const whole = await runKilled(matrix, undefined, { commands, mostLooks: MOST_LOOKS });
  yield whole;
  const all = IS_WHOLE ? after(...Array.from({ length: whole.writes }, (_, at) => at + 1)) : kills;
  for (const kill of all) yield runKilled(matrix, kill, { commands, mostLooks: MOST_LOOKS });
}

describe("a changed installation is caught", () => {
  test.for(MUTANTS)("$name", { timeout: 1_800_000 }, async (mutant) => {
    const commands = await loadChanged<Commands>("install", "run-install.ts", mutant);
    const wrong: string[] = [];
    for await (const run of runs(mutant, commands)) {
      wrong.push(...run.wrong);
      if (wrong.length > 0) break;
    }
    expect(wrong.join("\n")).toMatch(mutant.shows);
  });
});
