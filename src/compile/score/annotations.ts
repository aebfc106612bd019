/**
 * Annotations of a Score file. Score has no fields for the environment and the user of the processes, so Lattice reads them from its own
 * annotations. Annotations of other tools are copied to the workload.
 */
import { didYouMean } from "#crds";
import type { JsonObject } from "#kube";

const PREFIX = "lattice.dev/";
const ENVIRONMENT = "lattice.dev/environment";
const READ_ONLY = "lattice.dev/read-only-root-filesystem";
const CAPABILITIES = "lattice.dev/add-capabilities";

/** Numeric fields of the pod's security context. */
const IDS: ReadonlyMap<string, string> = new Map([
  ["lattice.dev/run-as-user", "runAsUser"],
  ["lattice.dev/run-as-group", "runAsGroup"],
  ["lattice.dev/fs-group", "fsGroup"],
]);

const KNOWN = [ENVIRONMENT, ...IDS.keys(), READ_ONLY, CAPABILITIES];

/** Annotations of kubectl, Lattice and other Score tools, which are not copied to the workload. */
const NOT_FOR_WORKLOADS = /^(?:lattice\.dev|kubectl\.kubernetes\.io|(?:[^/]+\.)?score\.dev)\//;

export type AnnotationProblem = { readonly key: string; readonly message: string };

export type ScoreSettings = {
  /** Fields of the spec. */
  readonly spec: JsonObject;
  /** Fields of the security context of every container. */
  readonly container: JsonObject;
  readonly problems: readonly AnnotationProblem[];
};

export function settingsOf(annotations: Readonly<Record<string, string>> = {}): ScoreSettings {
  const problems: AnnotationProblem[] = [];
  const [ids, container]: [[string, number][], [string, JsonObject | boolean][]] = [[], []];
  for (const [key, value] of Object.entries(annotations)) {
    const problem = readOne(key, value, ids, container);
    if (problem !== undefined) problems.push({ key, message: problem });
  }
  const environment = annotations[ENVIRONMENT];
  const others = Object.entries(annotations).filter(([key]) => !NOT_FOR_WORKLOADS.test(key));
  return {
    spec: {
      ...(environment === undefined ? {} : { environment }),
      ...(others.length === 0 ? {} : { annotations: Object.fromEntries(others) }),
      ...(ids.length === 0 ? {} : { securityContext: Object.fromEntries(ids) }),
    },
    container: Object.fromEntries(container),
    problems,
  };
}

type Entries<T> = (readonly [string, T])[];

/** The error of an annotation; undefined: it is valid, or not one of Lattice. */
function readOne(key: string, value: string, ids: Entries<number>, container: Entries<JsonObject | boolean>): string | undefined {
  const id = IDS.get(key);
  if (id !== undefined) {
    if (!/^[0-9]{1,10}$/.test(value)) return 'must be a number, such as "101"';
    ids.push([id, Number(value)]);
  } else if (key === READ_ONLY) {
    if (value !== "true" && value !== "false") return 'must be "true" or "false"';
    container.push(["readOnlyRootFilesystem", value === "true"]);
  } else if (key === CAPABILITIES) {
    const names = value.split(",").map((name) => name.trim());
    if (!names.every((name) => /^[A-Z][A-Z0-9_]*$/.test(name)))
      return 'must be capabilities, such as "NET_BIND_SERVICE" or "CHOWN, FOWNER"';
    container.push(["capabilities", { add: names }]);
  } else if (key.startsWith(PREFIX) && key !== ENVIRONMENT) return `is not an annotation of Lattice${didYouMean(key, KNOWN)}`;
  return undefined;
}
