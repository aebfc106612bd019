/** States of resources as a table, and as data for programs. */
import { findCondition, type Condition } from "#kube";
import type { ResourceState, StateKind } from "../resource-state.ts";
import { coloured, colourOfPhase, type StyledText } from "../styled-text.ts";
import { formatTable, type TableRow } from "../terminal/table.ts";

/** Conditions that `-o wide` shows, each under its heading. */
const SHOWN = [
  ["TemplatesResolved", "TEMPLATES"],
  ["ConfigCompiled", "CONFIG"],
  ["WorkloadsReady", "PODS"],
  ["PoliciesApplied", "POLICIES"],
] as const;
const STATUS_TEXTS: ReadonlyMap<string, string> = new Map([
  ["True", "yes"],
  ["False", "no"],
  ["Unknown", "-"],
]);

export function stateTable(
  states: readonly ResourceState[],
  { wide, columns }: { readonly wide: boolean; readonly columns: number | undefined },
): StyledText {
  const more = wide ? SHOWN.map(([, head]) => head) : [];
  const rows = states.map(({ kind, name, phase, sentence, conditions }): TableRow => [
    kind,
    name,
    coloured(phase === "" ? "-" : phase, colourOfPhase(phase)),
    ...(wide ? SHOWN.map(([type]) => statusText(findCondition(conditions, type))) : []),
    sentence,
  ]);
  return formatTable([["KIND", "NAME", "PHASE", ...more, "STATUS"], ...rows], { columns });
}

function statusText(condition: Condition | undefined): string {
  return condition === undefined ? "" : (STATUS_TEXTS.get(condition.status) ?? "-");
}

const KINDS: Readonly<Record<StateKind, string>> = {
  service: "LatticeService",
  external: "LatticeExternalService",
  environment: "LatticeEnvironment",
};

export function stateJson(states: readonly ResourceState[]) {
  return {
    ready: states.filter(({ ready }) => ready).length,
    total: states.length,
    items: states.map(({ kind, name, phase, ready, sentence, conditions, closed }) => {
      const [namespace, own] = name.includes("/") ? name.split("/", 2) : [undefined, name];
      return {
        kind: KINDS[kind],
        ...(namespace === undefined ? {} : { namespace }),
        name: own ?? name,
        phase,
        ready,
        message: sentence,
        conditions: conditions.map(({ type, status, reason, message }) => ({ type, status, reason, message })),
        ...(closed.length === 0 ? {} : { closedDependencies: closed }),
      };
    }),
  };
}
