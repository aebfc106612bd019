/**
 * A simulated node as its Node object describes it. Pure.
 *
 * Settings are annotations or labels `simulation.lattice.dev/…`. Those that cannot be read are reported and replaced by their default: a node
 * with a typing error still runs.
 */
import { parseQuantity, type Node, type ResourceList } from "#kube";
import { annotation, PREFIX } from "../faults/annotations.ts";
import { DEFAULT_CAPACITY, DEFAULT_VERSION } from "../options.ts";

export type Machine = {
  readonly name: string;
  readonly uid: string;
  /** "v1.36.3" */
  readonly version: string;
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
  /** Powered off by the object. */
  readonly stopped: boolean;
  /** One sentence for each setting that cannot be read. */
  readonly problems: readonly string[];
};

/** The label of the Nodes that are simulated; all others are not changed. */
export const NODE_LABEL = `${PREFIX}node`;

export function isSimulated({ metadata: { labels = {} } }: Node): boolean {
  return Object.hasOwn(labels, NODE_LABEL) && labels[NODE_LABEL] === "true";
}

export function machineOf(node: Node): Machine {
  const { name, uid = "", labels = {}, annotations = {} } = node.metadata;
  const problems: string[] = [];
  const settings = { ...labels, ...annotations };
  const wanted = capacityOf(settings, problems);
  const capacity = { ...DEFAULT_CAPACITY, ...node.status?.capacity, ...wanted };
  return {
    name,
    uid,
    version: versionOf(settings, problems),
    capacity,
    allocatable: { ...capacity, ...node.status?.allocatable, ...wanted },
    stopped: [labels, annotations].some((one) => annotation(one, "stopped") === "true"),
    problems,
  };
}

type Settings = Readonly<Record<string, string>>;

const VERSION = /^v[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}([-+][0-9A-Za-z.+-]{1,40})?$/;

function versionOf(settings: Settings, problems: string[]): string {
  const text = annotation(settings, "version");
  if (text === undefined || VERSION.test(text)) return text ?? DEFAULT_VERSION;
  problems.push(`${PREFIX}version: ${quoted(text)} is not a version such as v1.36.3; ${DEFAULT_VERSION} is used`);
  return DEFAULT_VERSION;
}

/** Resources whose amount a setting `capacity-…` gives; all others can be given in `status.capacity` when the Node is created. */
function capacityOf(settings: Settings, problems: string[]): ResourceList {
  const start = `${PREFIX}capacity-`;
  const resources = Object.keys(settings).flatMap((name) => (name.startsWith(start) ? [name.slice(start.length)] : []));
  return Object.fromEntries(
    resources.flatMap((resource) => {
      const standard = Object.hasOwn(DEFAULT_CAPACITY, resource) ? DEFAULT_CAPACITY[resource] : undefined;
      const text = annotation(settings, `capacity-${resource}`) ?? "";
      if (standard === undefined) {
        problems.push(
          `${start}${resource.slice(0, 63)}: is not a known resource; use one of ${Object.keys(DEFAULT_CAPACITY).join(", ")}, or status.capacity`,
        );
        return [];
      }
      if (isAmount(resource, text)) return [[resource, text] as const];
      const kind = resource === "pods" ? "a whole number such as 110" : "a quantity such as 4 or 8Gi";
      problems.push(`${start}${resource}: ${quoted(text)} is not ${kind}; ${standard} is used`);
      return [[resource, standard] as const];
    }),
  );
}

const WHOLE = 1_000_000_000n;
/** 1E. The API server caps amounts that are much larger. */
const LARGEST = 10n ** 18n * WHOLE;

function isAmount(resource: string, text: string): boolean {
  const parsed = parseQuantity(text);
  return parsed.ok && parsed.value >= 0n && parsed.value <= LARGEST && (resource !== "pods" || parsed.value % WHOLE === 0n);
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
