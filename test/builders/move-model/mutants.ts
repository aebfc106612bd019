/** Changes of the mover that each break it: one text of one file. */
import { loadChanged, type SourceChange } from "../changed-source.ts";
import type { PatternName } from "./model-steps.ts";
import type { Mover } from "./play-model.ts";

export type Mutant = SourceChange & {
  /** The lists that show it soonest. */
  readonly pattern?: PatternName;
};

export const MUTANTS: readonly Mutant[] = [
  {
    name: "copies are not paused",
    file: "plan/content.ts",
    find: "paused: true } } : {};",
    replace: "paused: false } } : {};",
  },
  {
    name: "the source is deleted before the target has acknowledged the commit",
    file: "mover/move-steps.ts",
    find: 'commit: (run) => setRecord(run, "committed"),',
    replace: `commit: async (run) => {
      const deleted = await withHead(run, ({ id }) => deleteSource(run.context, id));
      return deleted.ok ? setRecord(run, "committed") : deleted;
    },`,
  },
  {
    name: "the target is unpaused before the commit",
    file: "mover/move-steps.ts",
    find: 'commit: (run) => setRecord(run, "committed"),',
    replace: `commit: async (run) => {
      const resumed = await withHead(run, (head) => resumeAll({ side: run.context.target, namespace: run.context.namespace, head }));
      return resumed.ok ? setRecord(run, "committed") : resumed;
    },`,
  },
  {
    name: "a copy is adopted without proof that it is one",
    file: "mover/place-copy.ts",
    find: "const isOurs = mark !== undefined || copy.metadata.uid === situation.acknowledged;",
    replace: "const isOurs = true;",
  },
  {
    name: "the commit does not wait for the comparison",
    file: "ownership/decide.ts",
    find: 'if (!view.verified) return step("transfer");',
    replace: "",
  },
  {
    name: "a revoked record is ignored",
    pattern: "late deletion of a copy",
    file: "ownership/decide.ts",
    find: 'if (ours === "revoked") return refused(',
    replace: "if (false) return refused(",
  },
  {
    name: "what was paused before the move is forgotten",
    file: "mover/pausing.ts",
    find: "pausables.filter(({ wasPaused }) => !wasPaused);",
    replace: "pausables;",
  },
  {
    name: "the pause is not checked again before the commit",
    pattern: "unpaused by a person",
    file: "ownership/decide.ts",
    find: 'if (!view.sourcePaused && ours !== undefined) return step("pause");',
    replace: 'if (!view.sourcePaused && ours !== undefined && !view.verified) return step("pause");',
  },
  {
    name: "a late request may pause and unpause",
    pattern: "late unpause",
    file: "mover/pausing.ts",
    find: "metadata: { ...metadata, ...versionOf(found.value) } });\n    if (!written.ok ||",
    replace: "metadata });\n    if (!written.ok ||",
  },
  {
    name: "a late request may delete the journal of a later move",
    pattern: "late end of a journal",
    file: "mover/journal.ts",
    find: "return source.remove(secrets, { namespace, name: HEAD_NAME }, uid === undefined ? {} : { uid });",
    replace: "void uid;\n  return source.remove(secrets, { namespace, name: HEAD_NAME }, {});",
  },
  {
    name: "a late request may delete the record of a later move",
    pattern: "late end of a record",
    file: "mover/journal.ts",
    find: "return side.remove(configMaps, { namespace, name: RECORD_NAME }, versionOf(object));",
    replace: "void object;\n  return side.remove(configMaps, { namespace, name: RECORD_NAME }, {});",
  },
  {
    name: "the record is written without the version that was read",
    pattern: "late commit",
    file: "mover/journal.ts",
    find: 'resourceVersion: before.object.metadata.resourceVersion ?? "" };',
    replace: "};",
  },
  {
    name: "a commit of an earlier run may still arrive",
    pattern: "late commit",
    file: "ownership/decide.ts",
    find: 'if (journal.phase === "committing" && !view.fenced) return step("register");',
    replace: "",
  },
  {
    name: "the status is not carried",
    file: "mover/place-copy.ts",
    find: "if (status === undefined) return ok(undefined);",
    replace: "if (copy !== undefined) return ok(undefined);",
  },
  {
    name: "owner references keep the uids of the source",
    file: "plan/content.ts",
    find: "uid: uids.get(owner.uid) ?? owner.uid }));",
    replace: "uid: owner.uid }));",
  },
  {
    name: "an abort does not revoke the record first",
    file: "ownership/decide.ts",
    find: 'if (ours === "receiving") return { step: "revoke" };',
    replace: "",
  },
  {
    name: "an abort is possible after the commit",
    pattern: "abort at the end",
    file: "ownership/decide.ts",
    find: 'if (journal.phase === "committed" || ours === "committed") return { refused: OWNED };',
    replace: "",
  },
  {
    name: "an object that is being deleted is copied",
    file: "plan/problems.ts",
    find: "return graph.moved.filter(({ object, kept }) => kept === undefined && isBeingDeleted(object)).map(({ object }) => object);",
    replace: "return graph.moved.filter(() => false).map(({ object }) => object);",
  },
  {
    name: "a copy is complete before the journal has its uid",
    file: "mover/place-copy.ts",
    find: "return carried.ok ? ok({ uid, changed: true, incomplete: true }) : carried;",
    replace:
      "if (!carried.ok) return carried;\n  const completed = await completeCopy(target, node, uid);\n  return completed.ok ? ok({ uid, changed: true, incomplete: false }) : completed;",
  },
  {
    name: "an abort leaves the copies",
    file: "ownership/decide.ts",
    find: 'if (targetHasCopies) return { step: "delete-copies" };',
    replace: "",
  },
  {
    name: "finalizers stop the deletion at the source",
    file: "mover/remove-object.ts",
    find: "metadata: { uid, finalizers: [], annotations }",
    replace: "metadata: { uid, annotations }",
  },
  {
    name: "a pause of a killed run may arrive after an abort",
    pattern: "late pause",
    file: "mover/abort.ts",
    find: "const fenced = isUnregistered ? ok(true) : await fencePauses({ side: context.source, namespace: context.namespace, head });",
    replace: "void isUnregistered;\n    const fenced: Awaited<ReturnType<typeof fencePauses>> = ok(true);",
  },
  {
    name: "objects that have changed since they were planned count as copied",
    pattern: "edited by a person",
    file: "mover/transfer.ts",
    find: "const outdated = batch.nodes.length - read.value.length;",
    replace: "const outdated = 0;",
  },
  {
    name: "a journal that arrived late is continued after a person has paused the cluster",
    pattern: "late intent",
    file: "ownership/decide.ts",
    find: 'return view.hasBegun ? register(record, journal.epoch) : step("discard");',
    replace: "return register(record, journal.epoch);",
  },
  {
    name: "an abort undoes the pause of a person",
    pattern: "late intent",
    file: "ownership/decide.ts",
    find: "return sourceResumed || (ours === undefined && !hasBatches)",
    replace: "return sourceResumed",
  },
  {
    name: "a move begins at a side that is receiving one",
    pattern: "a move back before the end",
    file: "mover/begin.ts",
    find: "problems: [...receiving, ...leaving] });",
    replace: "problems: [...receiving, ...leaving].slice(0, 0) });",
  },
];

export function loadMutant(mutant: Mutant): Promise<Mover> {
  return loadChanged<Mover>("pivot", "mover/move-namespace.ts", mutant);
}
