/** The next step of an uninstallation, by what is observed. */
import { describe, expect, test } from "vitest";
import { nextUninstallStep, type BootstrapView } from "./decide.ts";
import {
  absent,
  detached,
  fresh,
  owner,
  pivoted,
  provisioning,
  requested,
  type Row,
  silent,
  there,
  view,
  young,
} from "./decide-views.test-support.ts";

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
      name: "objects have returned, and the move has not ended: the Cluster may still be paused",
      bootstrap: there(returned),
      management: there({ ...detached, ownership: "moving" }),
      want: { step: "move-back" },
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
    {
      name: "a child of another cluster that owns itself",
      bootstrap: absent,
      management: there({ ...owner, parent: "east" }),
      orphanChildren: true,
      want: {
        refused:
          "mgmt is a child of east: delete its LatticeCluster there, which also deletes its machines; if east is gone for good, first give mgmt another parent with lattice reparent",
      },
    },
    {
      name: "a child of another cluster, and a bootstrap cluster that runs",
      bootstrap: there(fresh),
      management: there({ ...owner, parent: "east" }),
      want: { refused: expect.stringContaining("mgmt is a child of east") },
    },
    {
      name: "a child whose parent cannot be read",
      bootstrap: absent,
      management: there(owner),
      want: { refused: expect.stringContaining("mgmt is a child of another cluster") },
    },
    {
      name: "an installation whose bootstrap cluster is gone has not ended",
      bootstrap: absent,
      management: there({ ...owner, parent: "lattice-bootstrap" }),
      want: { refused: expect.stringContaining("lattice install continues it") },
    },
  ];
  test.each(rows)("$name", ({ want, orphanChildren = false, ...given }) => {
    expect(nextUninstallStep(view(given), { orphanChildren })).toEqual(want);
  });
});
