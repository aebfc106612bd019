/** An answer of `why`, for a terminal: the doors in their order, who stands at each, and what to add. */
import type { Door, Step } from "#mesh-compiler";
import type { ServiceKey } from "./world.ts";
import type { Answer } from "./why.ts";

const DOORS: Readonly<Record<Door, { readonly layer: string; readonly verb: string; readonly kind: string }>> = {
  egress: { layer: "L4", verb: "leaves", kind: "CiliumNetworkPolicy" },
  ingress: { layer: "L4", verb: "enters", kind: "CiliumNetworkPolicy" },
  waypoint: { layer: "L7", verb: "passes", kind: "AuthorizationPolicy" },
  identity: { layer: "L7", verb: "is let in at", kind: "AuthorizationPolicy" },
};

/**
 * All answers to one question. Ports that the same doors decided alike are told together.
 *
 * @example process.stdout.write(formatAnswers(answers));
 */
export function formatAnswers(answers: readonly Answer[], places: ReadonlyMap<ServiceKey, string> = new Map()): string {
  const alike = Map.groupBy(answers, ({ port: _port, ...rest }) => JSON.stringify(rest));
  return [...alike.values()]
    .flatMap(([first, ...others]) =>
      first === undefined
        ? []
        : [
            formatAnswer(
              first,
              places,
              others.map(({ port }) => port),
            ),
          ],
    )
    .join("\n");
}

/**
 * One answer, for a terminal. `places` says in which file a resource is written, where that is known.
 *
 * @example for (const answer of answers) process.stdout.write(formatAnswer(answer));
 */
export function formatAnswer(
  answer: Answer,
  places: ReadonlyMap<ServiceKey, string> = new Map(),
  morePorts: readonly (number | undefined)[] = [],
): string {
  const { from, to, port, open, steps, missing, notes } = answer;
  const ports = port === undefined ? "" : `:${[port, ...morePorts].join(", ")}`;
  const lines = [`${from} -> ${to}${ports} is ${open ? "open" : "closed"}`];
  if (steps.length > 0) lines.push("", ...stepLines(steps));
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

function stepLines(steps: readonly Step[]): readonly string[] {
  const places = steps.map(({ door, at }) => `${DOORS[door].verb} ${at.replace(" (pair)", ", past the waypoint")}`);
  const width = Math.max(...places.map((place) => place.length));
  return steps.map((step, at) => {
    const { layer, kind } = DOORS[step.door];
    return `  ${layer}  ${step.allowed ? "yes" : "NO "}  ${(places[at] ?? "").padEnd(width)}  ${decidedBy(step, kind)}`;
  });
}

const MOST_NAMED = 3;

function decidedBy({ allowed, by }: Step, kind: string): string {
  if (by.length === 0) return `no ${kind} applies there`;
  const names = `${by.slice(0, MOST_NAMED).join(", ")}${by.length > MOST_NAMED ? ` and ${by.length - MOST_NAMED} more` : ""}`;
  return allowed ? `${kind} ${names}` : `${kind} ${names} ${by.length === 1 ? "does" : "do"} not allow it`;
}
