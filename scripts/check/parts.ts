/** The parts of the gate, in the order in which they run: the quick ones first. */
import { checkCrypto } from "./crypto.ts";
import { checkDocs } from "./docs.ts";
import { checkExports } from "./exports.ts";
import type { Check } from "./finding.ts";
import { checkGenerated } from "./generated.ts";
import { checkKinds } from "./kinds.ts";
import { checkLayers } from "./layers.ts";
import { checkModuleState } from "./module-state.ts";
import { checkNames } from "./names.ts";
import { checkPins } from "./pins.ts";
import { checkTests } from "./tests.ts";
import { checkFormat, checkLint } from "./tools.ts";
import { checkTypes } from "./types.ts";
import { checkWords } from "./words.ts";

export const PARTS: ReadonlyMap<string, Check> = new Map([
  ["types", checkTypes],
  ["lint", checkLint],
  ["format", checkFormat],
  ["layers", checkLayers],
  ["kinds", checkKinds],
  ["exports", checkExports],
  ["module-state", (root) => checkModuleState(root)],
  ["crypto", (root) => checkCrypto(root)],
  ["generated", (root) => checkGenerated(root)],
  ["docs", checkDocs],
  ["words", checkWords],
  ["names", checkNames],
  ["pins", checkPins],
  ["tests", checkTests],
]);
