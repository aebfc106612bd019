// Adapts the patch engine to the runner of the recorded cases: node run.mjs path/to/smp-adapter.mjs
// Node 24 runs it without a build: the engine's TypeScript is erasable.
import * as patch from "../../src/patch/index.ts";

/** Kinds of errors, as run.mjs names them. */
const KINDS = new Map([
  ["bad-json", "badJSON"],
  ["bad-directive", "badPatchType"],
  ["no-merge-key", "noMergeKey"],
  ["order-mismatch", "orderMismatch"],
  ["bad-element-order", "badSetElementOrderPatch"],
  ["bad-retain-keys", "badRetainKeysPatch"],
  ["bad-primitive-list", "badPrimitiveListPatch"],
  ["list-of-lists", "listOfLists"],
  ["unknown-field", "unknownField"],
  ["conflict", "conflict"],
]);

const schemas = new WeakMap();

function schemaOf({ doc, definition }) {
  let known = schemas.get(doc);
  if (known === undefined) schemas.set(doc, (known = new Map()));
  if (!known.has(definition)) known.set(definition, unwrap(patch.openApiSchema(doc, definition)));
  return known.get(definition);
}

function unwrap(result) {
  if (result.ok) return result.value;
  const other = result.error.message.startsWith("merging lists cannot yet");
  throw Object.assign(new Error(result.error.message), { kind: other ? "other" : (KINDS.get(result.error.kind) ?? "other") });
}

export const apply = (original, change, schema) => unwrap(patch.applyStrategicMergePatch(original, change, schemaOf(schema)));

export const applyText = (original, change, schema) =>
  unwrap(patch.applyStrategicMergePatchText(original ?? "{}", change ?? "{}", schemaOf(schema)));

export const diff2 = (original, modified, schema) => unwrap(patch.createTwoWayStrategicPatch(original, modified, schemaOf(schema)));

export const diff2Text = (original, modified, schema) =>
  unwrap(patch.createTwoWayStrategicPatchText(original ?? "", modified ?? "", schemaOf(schema)));

export const diff3 = (original, modified, current, schema, { overwrite = false } = {}) =>
  unwrap(patch.createThreeWayStrategicPatch({ original, modified, current }, schemaOf(schema), { overwrite }));

export const diff3Text = (original, modified, current, schema, { overwrite = false } = {}) =>
  unwrap(
    patch.createThreeWayStrategicPatchText(
      { original: original ?? "", modified: modified ?? "", current: current ?? "" },
      schemaOf(schema),
      {
        overwrite,
      },
    ),
  );

export const sort = (original, schema) => unwrap(patch.sortMergeLists(original, schemaOf(schema)));

export const sortText = (original, schema) => unwrap(patch.sortMergeListsText(original, schemaOf(schema)));

export const jsonMergeDiff3 = (original, modified, current) => unwrap(patch.createThreeWayMergePatch({ original, modified, current }));

export const jsonMergeDiff3Text = (original, modified, current) =>
  unwrap(patch.createThreeWayMergePatchText({ original: original ?? "", modified: modified ?? "", current: current ?? "" }));

export const hasConflicts = (left, right) => patch.mergePatchesConflict(left, right);

export const mergingMapsHaveConflicts = (left, right, schema) => unwrap(patch.strategicPatchesConflict(left, right, schemaOf(schema)));
