/** Claims about the decisions in every combination of what can be observed. */
import { describe, expect, test } from "vitest";
import {
  nextInstallStep,
  nextUninstallStep,
  type BootstrapView,
  type ClusterObservation,
  type InstallView,
  type ManagementView,
} from "./decide.ts";
import { absent, detached, requested, silent, there, view } from "./decide-views.test-support.ts";

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
  for (const bootstrap of bootstraps) for (const management of managements) yield view({ bootstrap, management });
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
