/** The next step of an installation, by what is observed. */
import { describe, expect, test } from "vitest";
import { nextInstallStep, type BootstrapView, type FileView } from "./decide.ts";
import {
  absent,
  cell,
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

const withFile = (file: FileView): BootstrapView => ({
  ...provisioning,
  cluster: { ...requested("Provisioning", "1 of 2 machines run"), file },
});

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
    {
      name: "the file was changed while machines are made",
      bootstrap: there(withFile({ changes: ["spec.nodes.workers: 1 -> 2", "Secret a/b"] })),
      management: there(young),
      want: { step: "apply-changes", detail: "spec.nodes.workers: 1 -> 2; Secret a/b" },
    },
    {
      name: "the file was changed in what cannot be changed",
      bootstrap: there(withFile({ changes: ["spec.provider.type: aws -> gcp"], problem: "undo that" })),
      management: there(young),
      want: { refused: "undo that" },
    },
    {
      name: "the file was changed while the objects are moved",
      bootstrap: there({ ...withFile({ changes: ["x"], problem: "undo that" }), ownership: "moving" }),
      management: there({ ...young, ownership: "moving" }),
      want: { wait: "Provisioning: 1 of 2 machines run" },
    },
    {
      name: "the file was changed after the pivot, and the management cluster does not answer",
      bootstrap: there({ ...pivoted, cluster: { ...requested("Ready"), file: { changes: ["x"] } } }),
      management: silent,
      want: { wait: "mgmt is Ready, and does not answer: connection refused" },
    },
    {
      name: "the file was changed after the pivot, and the installation has not ended",
      bootstrap: there(pivoted),
      management: there({ ...detached, fileProblem: "the file differs" }),
      want: { step: "remove-bootstrap" },
    },
    {
      name: "the file was changed after the installation",
      bootstrap: absent,
      management: there({ ...detached, fileProblem: "the file differs" }),
      want: { refused: "the file differs" },
    },
  ];
  test.each(rows)("$name", ({ want, ...given }) => expect(nextInstallStep(view(given))).toEqual(want));
});
