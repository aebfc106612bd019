import { describe, expect, test } from "vitest";
import {
  nextInstallStep,
  nextUninstallStep,
  type BootstrapView,
  type InstallView,
  type ManagementView,
  type ClusterObservation,
} from "./decide.ts";

const there = <T>(view: T): ClusterObservation<T> => ({ state: "there", view });
const absent = { state: "absent" } as const;
const silent = { state: "unknown", why: "connection refused" } as const;

const fresh: BootstrapView = {
  atEnd: "removed",
  isBeingCleaned: false,
  ownership: "never-moved",
  objects: [],
  isDeleting: true,
  hasNamespace: false,
};
const cell: BootstrapView = { ...fresh, cell: { ready: true, message: "" } };
const requested = (phase: string, message = "") => ({ isOurs: true, isBeingDeleted: false, phase, message });
const provisioning: BootstrapView = {
  ...cell,
  cluster: requested("Provisioning", "1 of 2 machines run"),
  objects: ["Cluster mgmt"],
  isDeleting: false,
  hasNamespace: true,
};
const pivoted: BootstrapView = { ...cell, cluster: requested("Ready") };
const young: ManagementView = { ownership: "never-moved", hasCluster: false, hasParent: true, children: [] };
const owner: ManagementView = { ownership: "owner", hasCluster: true, hasParent: true, children: [] };
const detached: ManagementView = { ...owner, hasParent: false };

type Row = {
  readonly name: string;
  readonly bootstrap: ClusterObservation<BootstrapView>;
  readonly management: ClusterObservation<ManagementView>;
  readonly want: object;
};
const view = ({ bootstrap, management }: Pick<Row, "bootstrap" | "management">): InstallView => ({ name: "mgmt", bootstrap, management });

describe("the next step of an installation", () => {
  const rows: readonly Row[] = [
    { name: "nothing exists", bootstrap: absent, management: absent, want: { step: "create-bootstrap" } },
    { name: "a new bootstrap cluster", bootstrap: there(fresh), management: absent, want: { step: "make-cell" } },
    {
      name: "a cell that starts",
      bootstrap: there({ ...cell, cell: { ready: false, message: "its operator starts" } }),
      management: absent,
      want: { wait: "the bootstrap cluster: its operator starts" },
    },
    { name: "a cell that runs", bootstrap: there(cell), management: absent, want: { step: "apply-cluster" } },
    { name: "machines are made", bootstrap: there(provisioning), management: absent, want: { wait: "Provisioning: 1 of 2 machines run" } },
    {
      name: "the cluster has no status yet",
      bootstrap: there({ ...cell, cluster: requested("") }),
      management: absent,
      want: { wait: "Pending" },
    },
    {
      name: "the first machine runs",
      bootstrap: there(provisioning),
      management: there(young),
      want: { wait: "Provisioning: 1 of 2 machines run" },
    },
    {
      name: "objects arrive",
      bootstrap: there({ ...provisioning, cluster: requested("Pivoting"), ownership: "moving" }),
      management: there({ ...young, ownership: "moving" }),
      want: { wait: "Pivoting" },
    },
    {
      name: "committed, and the journal is left",
      bootstrap: there({ ...pivoted, ownership: "moving" }),
      management: there(owner),
      want: { wait: "the bootstrap cluster finishes the move" },
    },
    {
      name: "committed, and objects are left",
      bootstrap: there({ ...pivoted, objects: ["Cluster mgmt", "Machine m"] }),
      management: there(owner),
      want: { wait: "the bootstrap cluster still has Cluster mgmt and 1 more" },
    },
    { name: "pivoted", bootstrap: there(pivoted), management: there(owner), want: { step: "detach" } },
    { name: "detached", bootstrap: there(pivoted), management: there(detached), want: { step: "remove-bootstrap" } },
    { name: "the bootstrap cluster is gone", bootstrap: absent, management: there(detached), want: { step: "done" } },
    { name: "it went before the parent was forgotten", bootstrap: absent, management: there(owner), want: { step: "detach" } },
    {
      name: "a bootstrap cluster that stays",
      bootstrap: there({ ...pivoted, atEnd: "kept" }),
      management: there(detached),
      want: { step: "release-bootstrap" },
    },
    {
      name: "a bootstrap cluster that stays, while it forgets",
      bootstrap: there({ ...pivoted, atEnd: "kept", cluster: { ...requested("Deleting"), isBeingDeleted: true } }),
      management: there(detached),
      want: { wait: "the bootstrap cluster forgets the cluster" },
    },
    {
      name: "a bootstrap cluster that stays, and has forgotten",
      bootstrap: there({ ...cell, atEnd: "kept" }),
      management: there(detached),
      want: { step: "done" },
    },
    {
      name: "a bootstrap cluster that is cleaned first forgets the cluster",
      bootstrap: there({ ...pivoted, atEnd: "cleaned" }),
      management: there(detached),
      want: { step: "release-bootstrap" },
    },
    {
      name: "a bootstrap cluster that stays, and has forgotten all but the namespace",
      bootstrap: there({ ...cell, atEnd: "kept", hasNamespace: true }),
      management: there(detached),
      want: { step: "release-bootstrap" },
    },
    {
      name: "a bootstrap cluster that is cleaned, and has forgotten",
      bootstrap: there({ ...cell, atEnd: "cleaned" }),
      management: there(detached),
      want: { step: "remove-bootstrap" },
    },
    {
      name: "a bootstrap cluster whose cleaning has begun, and the management cluster does not answer",
      bootstrap: there({ ...fresh, atEnd: "cleaned", isBeingCleaned: true }),
      management: silent,
      want: { step: "remove-bootstrap" },
    },
    {
      name: "the bootstrap cluster does not answer",
      bootstrap: silent,
      management: there(detached),
      want: { wait: "the bootstrap cluster does not answer: connection refused" },
    },
    {
      name: "only the management cluster is left, and does not answer",
      bootstrap: absent,
      management: silent,
      want: { wait: "cluster mgmt does not answer: connection refused" },
    },
    {
      name: "the management cluster does not answer after the pivot",
      bootstrap: there(pivoted),
      management: silent,
      want: { wait: "mgmt is Ready, and does not answer: connection refused" },
    },
    {
      name: "the cluster is lost",
      bootstrap: absent,
      management: there(young),
      want: { refused: expect.stringContaining("does not own itself") },
    },
    {
      name: "the name is taken",
      bootstrap: there({ ...provisioning, cluster: { ...requested("Ready"), isOurs: false } }),
      management: absent,
      want: { refused: expect.stringContaining("was not created by lattice install") },
    },
    {
      name: "a person deletes the cluster meanwhile",
      bootstrap: there({ ...provisioning, cluster: { ...requested("Deleting"), isBeingDeleted: true } }),
      management: absent,
      want: { wait: "LatticeCluster mgmt is being deleted in the bootstrap cluster" },
    },
    {
      name: "a child of the bootstrap cluster that another tool made",
      bootstrap: there({ ...pivoted, atEnd: "kept", cluster: { ...requested("Ready"), isOurs: false } }),
      management: there(owner),
      want: { refused: expect.stringContaining("was not created by lattice install") },
    },
    {
      name: "the bootstrap cluster has forgotten the cluster, which does not answer",
      bootstrap: there({ ...cell, atEnd: "kept" }),
      management: silent,
      want: { wait: "cluster mgmt does not answer: connection refused" },
    },
    {
      name: "a new bootstrap cluster, and the kubeconfig of a cluster that does not answer",
      bootstrap: there(fresh),
      management: { ...silent, ifGone: "remove mgmt.kubeconfig" },
      want: { wait: "cluster mgmt does not answer: connection refused; if it does not exist any more, remove mgmt.kubeconfig" },
    },
    {
      name: "a new bootstrap cluster, and a cluster of that name that does not own itself",
      bootstrap: there(fresh),
      management: there(young),
      want: { refused: expect.stringContaining("does not own itself") },
    },
    {
      name: "an uninstallation has moved the objects back",
      bootstrap: there({ ...fresh, ownership: "owner", objects: ["Cluster mgmt"], isDeleting: false }),
      management: silent,
      want: { refused: "the removal of mgmt has begun; lattice uninstall continues it" },
    },
    {
      name: "an uninstallation moves the objects back",
      bootstrap: there({ ...fresh, ownership: "moving" }),
      management: there(detached),
      want: { refused: "the removal of mgmt has begun; lattice uninstall continues it" },
    },
  ];
  test.each(rows)("$name", ({ want, ...given }) => expect(nextInstallStep(view(given))).toEqual(want));
});

describe("the next step of the reverse", () => {
  const returned: BootstrapView = { ...fresh, ownership: "owner", objects: ["Cluster mgmt"], isDeleting: false };
  const rows: readonly (Row & { readonly orphanChildren?: boolean })[] = [
    { name: "a cluster that owns itself", bootstrap: absent, management: there(detached), want: { step: "create-bootstrap" } },
    {
      name: "a cluster with children",
      bootstrap: absent,
      management: there({ ...detached, children: ["east", "west"] }),
      want: { refused: "mgmt has children (east, west); delete them first, or keep them without a parent with --orphan-children" },
    },
    {
      name: "a cluster whose children may lose their parent",
      bootstrap: absent,
      management: there({ ...detached, children: ["east"] }),
      orphanChildren: true,
      want: { step: "create-bootstrap" },
    },
    { name: "a bootstrap cluster runs", bootstrap: there(fresh), management: there(detached), want: { step: "move-back" } },
    {
      name: "a child that was created meanwhile",
      bootstrap: there(fresh),
      management: there({ ...detached, children: ["east"] }),
      want: { refused: expect.stringContaining("has children (east)") },
    },
    {
      name: "a move that has begun is finished, also with children",
      bootstrap: there({ ...fresh, ownership: "moving" }),
      management: there({ ...detached, ownership: "moving", children: ["east"] }),
      want: { step: "move-back" },
    },
    {
      name: "objects have returned",
      bootstrap: there(returned),
      management: there({ ...detached, ownership: "never-moved" }),
      want: { step: "delete-cluster" },
    },
    {
      name: "objects have returned, and a child was created meanwhile",
      bootstrap: there(returned),
      management: there({ ...detached, ownership: "never-moved", children: ["east"] }),
      want: { refused: expect.stringContaining("has children (east)") },
    },
    {
      name: "objects have returned, and the children may lose their parent",
      bootstrap: there(returned),
      management: there({ ...detached, ownership: "never-moved", children: ["east"] }),
      orphanChildren: true,
      want: { step: "delete-cluster" },
    },
    {
      name: "machines are removed, also of a cluster with children",
      bootstrap: there({ ...returned, isDeleting: true }),
      management: there({ ...detached, ownership: "never-moved", children: ["east"] }),
      want: { wait: "1 Cluster API objects are being deleted" },
    },
    {
      name: "machines are removed",
      bootstrap: there({ ...returned, isDeleting: true }),
      management: silent,
      want: { wait: "1 Cluster API objects are being deleted" },
    },
    {
      name: "everything is removed",
      bootstrap: there({ ...returned, objects: [] }),
      management: absent,
      want: { step: "remove-bootstrap" },
    },
    {
      name: "a bootstrap cluster that stays",
      bootstrap: there({ ...returned, objects: [], atEnd: "kept" }),
      management: absent,
      want: { step: "release-bootstrap" },
    },
    {
      name: "a bootstrap cluster that stays has forgotten",
      bootstrap: there({ ...fresh, atEnd: "kept" }),
      management: absent,
      want: { step: "done" },
    },
    { name: "nothing is left", bootstrap: absent, management: absent, want: { step: "done" } },
    { name: "an empty bootstrap cluster is left", bootstrap: there(fresh), management: absent, want: { step: "remove-bootstrap" } },
    {
      name: "an installation that has not ended",
      bootstrap: there(provisioning),
      management: absent,
      want: { refused: expect.stringContaining("lattice install continues") },
    },
    {
      name: "an installation whose cluster owns itself, and has not ended",
      bootstrap: there(pivoted),
      management: there(owner),
      want: { refused: expect.stringContaining("lattice install continues") },
    },
    {
      name: "an installation that is moving the objects",
      bootstrap: there({ ...pivoted, ownership: "moving" }),
      management: there({ ...young, ownership: "moving" }),
      want: { refused: expect.stringContaining("lattice install continues") },
    },
    {
      name: "a child of the bootstrap cluster",
      bootstrap: there({ ...pivoted, atEnd: "kept", cluster: { ...requested("Ready"), isOurs: false } }),
      management: there(owner),
      want: { refused: "mgmt is a child of the bootstrap cluster; delete its LatticeCluster there" },
    },
    {
      name: "a child",
      bootstrap: absent,
      management: there(young),
      want: { refused: expect.stringContaining("delete its LatticeCluster on its parent") },
    },
    {
      name: "no cluster of Lattice",
      bootstrap: absent,
      management: there({ ...young, hasParent: false }),
      want: { refused: expect.stringContaining("there is nothing") },
    },
    {
      name: "a move to elsewhere",
      bootstrap: absent,
      management: there({ ...detached, ownership: "moving" }),
      want: { refused: expect.stringContaining("a move of mgmt to another cluster has begun") },
    },
    {
      name: "the cluster does not answer",
      bootstrap: absent,
      management: silent,
      want: { wait: "cluster mgmt does not answer: connection refused" },
    },
    {
      name: "the bootstrap cluster does not answer",
      bootstrap: silent,
      management: absent,
      want: { wait: "the bootstrap cluster does not answer: connection refused" },
    },
  ];
  test.each(rows)("$name", ({ want, orphanChildren = false, ...given }) => {
    expect(nextUninstallStep(view(given), { orphanChildren })).toEqual(want);
  });
});

const OWNERSHIPS = ["never-moved", "moving", "owner"] as const;
const BOOLEANS = [true, false] as const;
const ENDS = [
  ["removed", false],
  ["kept", false],
  ["cleaned", false],
  ["cleaned", true],
] as const;
/** It was decided before, when the removal began. */
const isBegun = ({ bootstrap }: InstallView) => bootstrap.state === "there" && bootstrap.view.isBeingCleaned;

/** Every combination of what can be observed. */
function* allViews(): Generator<InstallView> {
  const managements: ClusterObservation<ManagementView>[] = [absent, silent];
  for (const ownership of OWNERSHIPS)
    for (const hasCluster of BOOLEANS)
      for (const hasParent of BOOLEANS)
        for (const children of [[], ["east"]]) managements.push(there({ ownership, hasCluster, hasParent, children }));
  managements.push(there({ ...detached, otherName: "east" }));
  const bootstraps: ClusterObservation<BootstrapView>[] = [absent, silent];
  for (const ownership of OWNERSHIPS)
    for (const [atEnd, isBeingCleaned] of ENDS)
      for (const isDeleting of BOOLEANS)
        for (const objects of [[], ["Cluster mgmt"]])
          for (const own of [undefined, { ready: true, message: "" }, { ready: false, message: "" }])
            for (const cluster of [
              undefined,
              requested("Ready"),
              { ...requested("Ready"), isOurs: false },
              { ...requested("Deleting"), isBeingDeleted: true },
            ])
              for (const hasNamespace of BOOLEANS)
                bootstraps.push(there({ atEnd, isBeingCleaned, ownership, isDeleting, objects, hasNamespace, cell: own, cluster }));
  for (const bootstrap of bootstraps) for (const management of managements) yield { name: "mgmt", bootstrap, management };
}

describe("in every situation", () => {
  test("an installation removes the bootstrap cluster only if the management cluster owns itself and forgot its parent", () => {
    for (const given of allViews()) {
      const decision = nextInstallStep(given);
      if (isBegun(given) || !("step" in decision) || !["remove-bootstrap", "release-bootstrap"].includes(decision.step)) continue;
      expect(given).toMatchObject({
        bootstrap: { state: "there", view: { ownership: "never-moved", objects: [] } },
        management: { state: "there", view: { ownership: "owner", hasCluster: true, hasParent: false } },
      });
    }
  });

  test("an installation creates the cluster only where neither cluster has a trace of it", () => {
    for (const given of allViews()) {
      const decision = nextInstallStep(given);
      if (!("step" in decision) || decision.step !== "apply-cluster") continue;
      expect(given).toMatchObject({
        bootstrap: { state: "there", view: { ownership: "never-moved", cluster: undefined } },
        management: { state: "absent" },
      });
    }
  });

  test("a LatticeCluster that was not created by an installation is left alone by both commands", () => {
    for (const given of allViews()) {
      if (isBegun(given) || given.bootstrap.state !== "there" || given.bootstrap.view.cluster?.isOurs !== false) continue;
      for (const decision of [nextInstallStep(given), nextUninstallStep(given, { orphanChildren: true })])
        expect(decision).toMatchObject({ refused: expect.any(String) as string });
    }
  });

  test("an uninstallation moves and deletes nothing where the bootstrap cluster has a LatticeCluster of it", () => {
    for (const given of allViews()) {
      const decision = nextUninstallStep(given, { orphanChildren: true });
      if ("step" in decision && ["move-back", "delete-cluster"].includes(decision.step))
        expect(given.bootstrap).toMatchObject({ state: "there", view: { cluster: undefined } });
    }
  });

  test("an uninstallation deletes machines only where the bootstrap cluster owns them, and removes it only without objects", () => {
    for (const given of allViews()) {
      const decision = nextUninstallStep(given, { orphanChildren: false });
      if (isBegun(given) || !("step" in decision)) continue;
      if (decision.step === "delete-cluster") expect(given.bootstrap).toMatchObject({ view: { ownership: "owner" } });
      if (decision.step === "delete-cluster" && given.management.state === "there") expect(given.management.view.children).toEqual([]);
      if (decision.step === "remove-bootstrap" || decision.step === "release-bootstrap")
        expect(given.bootstrap).toMatchObject({ view: { objects: [] } });
      if (decision.step === "create-bootstrap") expect(given.management).toMatchObject({ view: { ownership: "owner", children: [] } });
    }
  });

  test("a cluster of another name is refused, and neither changed nor taken for this one", () => {
    for (const given of allViews()) {
      if (isBegun(given) || given.management.state !== "there" || given.management.view.otherName === undefined) continue;
      const text = "the kubeconfig of mgmt leads to cluster east; give the one of mgmt, and run the same command again";
      expect(nextInstallStep(given)).toEqual({ refused: text });
      // its address may be that of the cluster whose machines are deleted
      const isLate = given.bootstrap.state === "there" && given.bootstrap.view.ownership === "owner" && given.bootstrap.view.isDeleting;
      const decision = nextUninstallStep(given, { orphanChildren: true });
      if (!isLate) expect(decision).toEqual({ refused: text });
    }
  });

  test("a removal that has begun is continued, and nothing else is done", () => {
    for (const given of allViews())
      if (isBegun(given))
        for (const decision of [nextInstallStep(given), nextUninstallStep(given, { orphanChildren: false })])
          expect(decision).toEqual({ step: "remove-bootstrap" });
  });

  test("a bootstrap cluster that was one before is never removed", () => {
    for (const given of allViews()) {
      if (given.bootstrap.state !== "there" || given.bootstrap.view.atEnd !== "kept") continue;
      for (const decision of [nextInstallStep(given), nextUninstallStep(given, { orphanChildren: true })])
        expect(decision).not.toEqual({ step: "remove-bootstrap" });
    }
  });
});
