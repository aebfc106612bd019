/** What a file asks for that differs, in the bootstrap cluster and in a cluster that owns itself. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLatticeCluster, type LatticeCluster } from "#crds";
import { jsonEqual } from "#kube";
import { rawCluster, rawProvider } from "../../test/builders/valid-resources.ts";
import { changeText, fileChanges, INSTALLED_SPEC_ANNOTATION, installedSpec, ownDifferences, patchOf } from "./file-changes.ts";

type Spec = Readonly<Record<string, unknown>>;

const file = (spec: Spec = {}) => rawCluster(spec, "mgmt") as unknown as LatticeCluster;
/** As an API server has it, with the file of the run before. */
function live(spec: Spec, before?: Spec): LatticeCluster {
  const parsed = parseLatticeCluster(rawCluster(spec, "mgmt"));
  if (!parsed.ok) throw new Error("the cluster is not valid");
  const annotations = before === undefined ? {} : { [INSTALLED_SPEC_ANNOTATION]: installedSpec(file(before)) };
  return { ...parsed.value, metadata: { ...parsed.value.metadata, annotations } };
}
const nodes = (workers: number, more: Spec = {}) => ({ nodes: { controlPlane: 1, workers, ...more } });

type Row = {
  readonly name: string;
  readonly live: LatticeCluster;
  readonly file: LatticeCluster;
  readonly isMade?: boolean;
  readonly changes: readonly string[];
  readonly impossible?: readonly string[];
};

const ROWS: readonly Row[] = [
  { name: "the same file", live: live(nodes(1), nodes(1)), file: file(nodes(1)), changes: [] },
  { name: "the same file, and an edit in the cluster", live: live(nodes(5), nodes(1)), file: file(nodes(1)), changes: [] },
  { name: "another number", live: live(nodes(1), nodes(1)), file: file(nodes(3)), changes: ["spec.nodes.workers: 1 -> 3"] },
  {
    name: "a field more, and one less",
    live: live(nodes(1, { workerPools: { a: {} } }), nodes(1, { workerPools: { a: {} } })),
    file: file({ ...nodes(1), upgrade: { drainTimeout: "5m" } }),
    changes: ['spec.nodes.workerPools: {"a":{}} -> absent', 'spec.upgrade: absent -> {"drainTimeout":"5m"}'],
  },
  { name: "no file of a run before", live: live(nodes(1)), file: file(nodes(3)), changes: ["spec.nodes.workers: 1 -> 3"] },
  { name: "no file of a run before, and equal but for defaults", live: live(nodes(1)), file: file(nodes(1)), changes: [] },
  {
    name: "networks before machines are made",
    live: live({}, {}),
    file: file({ networking: { pods: { cidr: "10.9.0.0/16" } } }),
    isMade: false,
    changes: ['spec.networking: absent -> {"pods":{"cidr":"10.9.0.0/16"}}'],
  },
  {
    name: "networks once machines are made",
    live: live({}, {}),
    file: file({ networking: { pods: { cidr: "10.9.0.0/16" } } }),
    changes: ['spec.networking: absent -> {"pods":{"cidr":"10.9.0.0/16"}}'],
    impossible: ["spec.networking.pods: cannot be changed once machines are made"],
  },
  {
    name: "the pool of addresses, beside networks that stay",
    live: live({ networking: { pods: { cidr: "10.9.0.0/16" } } }, { networking: { pods: { cidr: "10.9.0.0/16" } } }),
    file: file({ networking: { pods: { cidr: "10.9.0.0/16" }, default: { cidr: "10.8.0.0/24" } } }),
    changes: ['spec.networking.default: absent -> {"cidr":"10.8.0.0/24"}'],
  },
  {
    name: "an image without another version",
    live: live({ provider: { ...rawProvider, docker: { image: "a" } } }, { provider: { ...rawProvider, docker: { image: "a" } } }),
    file: file({ provider: { ...rawProvider, docker: { image: "b" } } }),
    changes: ["spec.provider.docker.image: a -> b"],
    impossible: [
      "spec.provider.docker.image: can be changed only together with kubernetes.version: a node image carries one version of Kubernetes",
    ],
  },
];

describe("in the bootstrap cluster", () => {
  test.each(ROWS)("$name", ({ live: found, file: written, isMade = true, changes, impossible = [] }) => {
    const shown = fileChanges({ live: found, file: written, isMade });
    expect({ changes: shown.changes.map(changeText), impossible: shown.impossible }).toEqual({ changes, impossible });
  });

  test("whatever the files are, the patch makes the one before into the next one", () => {
    const value = fc.letrec((tie) => ({
      node: fc.oneof({ depthSize: "small" }, fc.integer(), fc.array(fc.integer(), { maxLength: 2 }), tie("object")),
      object: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("node"), { maxKeys: 3 }),
    })).object;
    fc.assert(
      fc.property(value, value, (before, after) => {
        const cluster = (spec: unknown, annotations = {}) => ({ metadata: { name: "x", annotations }, spec }) as unknown as LatticeCluster;
        const found = cluster(before, { [INSTALLED_SPEC_ANNOTATION]: installedSpec(cluster(before)) });
        const { changes } = fileChanges({ live: found, file: cluster(after), isMade: false });
        expect(jsonEqual(merged(before, patchOf(changes)), after)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

/** RFC 7386. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === "object" && target !== null && !Array.isArray(target);
  const fields = new Map<string, unknown>(isObject ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) fields.delete(name);
    else fields.set(name, merged(fields.get(name), value));
  }
  return Object.fromEntries(fields);
}

describe("in a cluster that owns itself", () => {
  const cell = (more: Spec = {}) => ({ endpoints: { host: "10.0.0.1", ...more } });
  const rows: readonly {
    readonly name: string;
    readonly own: LatticeCluster;
    readonly file: LatticeCluster;
    readonly want: readonly string[];
  }[] = [
    { name: "defaults and the parent are no difference", own: live({ ...nodes(1), cellRef: "boot" }), file: file(nodes(1)), want: [] },
    { name: "ports that the file does not name are none", own: live(cell({ grpcPort: 7, proxyPort: 8 })), file: file(cell()), want: [] },
    {
      name: "ports that the file names are",
      own: live(cell({ grpcPort: 7 })),
      file: file(cell({ grpcPort: 9 })),
      want: ["spec.endpoints.grpcPort is 7, and 9 in the file"],
    },
    { name: "another number", own: live(nodes(1)), file: file(nodes(3)), want: ["spec.nodes.workers is 1, and 3 in the file"] },
    {
      name: "what a person has added there",
      own: live({ ...nodes(1), upgrade: { drainTimeout: "5m" } }),
      file: file(nodes(1)),
      want: ['spec.upgrade is {"drainTimeout":"5m"}, and absent in the file'],
    },
  ];
  test.each(rows)("$name", ({ own, file: written, want }) => expect(ownDifferences(own, written)).toEqual(want));
});
