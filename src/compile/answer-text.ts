/** The result of `why` for a terminal: the enforcement points in order, the policies that apply at each, and the missing declarations. */
import type { EnforcementPoint, EnforcementStep } from "#mesh-compiler";
import type { ServiceKey } from "./world.ts";
import { plainTable, type TableWriter } from "./plain-table.ts";
import type { WhyAnswer } from "./why.ts";

const ENFORCEMENT_POINTS: Readonly<Record<EnforcementPoint, { readonly layer: string; readonly verb: string; readonly kind: string }>> = {
  egress: { layer: "L4", verb: "leaves", kind: "CiliumNetworkPolicy" },
  ingress: { layer: "L4", verb: "enters", kind: "CiliumNetworkPolicy" },
  waypoint: { layer: "L7", verb: "passes", kind: "AuthorizationPolicy" },
  identity: { layer: "L7", verb: "is let in at", kind: "AuthorizationPolicy" },
};

/** The files of resources, and the layout of the steps. */
export type AnswerOptions = {
  /** The file that contains a resource; undefined: not known. */
  readonly places?: ReadonlyMap<ServiceKey, string>;
  /** Layout of the steps; absent: one line per step. */
  readonly table?: TableWriter | undefined;
};

/**
 * All results of one query. Ports with the same result at the same enforcement points are printed together.
 *
 * @example process.stdout.write(formatAnswers(answers));
 */
export function formatAnswers(answers: readonly WhyAnswer[], options: AnswerOptions = {}): string {
  const alike = Map.groupBy(answers, ({ port: _port, ...rest }) => JSON.stringify(rest));
  return [...alike.values()]
    .flatMap(([first, ...others]) =>
      first === undefined
        ? []
        : [
            formatAnswer(first, {
              ...options,
              morePorts: others.map(({ port }) => port),
            }),
          ],
    )
    .join("\n");
}

/**
 * One answer, for a terminal.
 *
 * @example for (const answer of answers) process.stdout.write(formatAnswer(answer));
 */
export function formatAnswer(
  answer: WhyAnswer,
  { places = new Map(), morePorts = [], table = plainTable }: AnswerOptions & { readonly morePorts?: readonly (number | undefined)[] } = {},
): string {
  const { from, to, port, open, steps, missing, notes } = answer;
  const ports = port === undefined ? "" : `:${[port, ...morePorts].join(", ")}`;
  const lines = [`${from} -> ${to}${ports} is ${open ? "open" : "closed"}`];
  if (steps.length > 0) lines.push("", table(stepRows(steps)).trimEnd());
  for (const note of notes) lines.push("", `${note}.`);
  for (const { kind, key, what, yaml } of missing) {
    const file = places.get(key);
    lines.push(
      "",
      `${what}. Add to ${kind} ${key}${file === undefined ? "" : ` (${file})`}:`,
      "",
      yaml.replace(/^(?=.)/gm, "    ").trimEnd(),
    );
  }
  return `${lines.join("\n")}\n`;
}

function stepRows(steps: readonly EnforcementStep[]): readonly (readonly string[])[] {
  return steps.map((step) => {
    const { layer, kind, verb } = ENFORCEMENT_POINTS[step.point];
    const place = `${verb} ${step.at.replace(" (pair)", ", past the waypoint")}`;
    return [`  ${layer}`, step.allowed ? "yes" : "NO ", place, decidedBy(step, kind)];
  });
}

const MOST_NAMED = 3;

function decidedBy({ allowed, by }: EnforcementStep, kind: string): string {
  if (by.length === 0) return `no ${kind} applies there`;
  const names = `${by.slice(0, MOST_NAMED).join(", ")}${by.length > MOST_NAMED ? ` and ${by.length - MOST_NAMED} more` : ""}`;
  return allowed ? `${kind} ${names}` : `${kind} ${names} ${by.length === 1 ? "does" : "do"} not allow it`;
}
