/** Records on Deployments of other owners: a service waits only for those that it has patched. */
import { describe, expect, test } from "vitest";
import { latticeServices } from "#crds";
import type { FixtureObject } from "#embedded-cluster";
import { latticeService } from "../../../test/builders/lattice-objects.ts";
import { deployment, startPatching } from "../../../test/builders/patched-service.ts";

/** A Deployment whose owner wrote a record that names shop/victim, and a Canary that does not exist as its owner, so that it is not restored. */
function forged(namespace: string): FixtureObject {
  const annotations = { "lattice.dev/patched-fields": JSON.stringify({ version: 1, service: "shop/victim", fields: [] }) };
  const uid = "0e4b1f2c-0000-4000-8000-000000000001";
  const ownerReferences = [{ apiVersion: "flagger.app/v1beta1", kind: "Canary", name: "evil", uid }];
  return deployment({ name: "evil", metadata: { namespace, name: "evil", annotations, ownerReferences } });
}

describe.each(["attacker", "shop"])("a forged record in namespace %s", (namespace) => {
  test("does not prevent a service in ownership mode from making its Deployment", async () => {
    await using started = await startPatching([forged(namespace), latticeService("shop/victim")], { controllers: false });
    const { operated } = started;
    await operated.live(5_000, 500);
    expect(await operated.names("Deployment", "shop")).toContain("victim");
  });

  test("does not prevent the deletion of a service", async () => {
    await using started = await startPatching([latticeService("shop/victim"), forged(namespace)], { controllers: false });
    const { operated } = started;
    await operated.remove(latticeServices, "shop/victim");
    await operated.live(5_000, 500);
    expect(await operated.read("LatticeService", "shop/victim")).toBeUndefined();
  });
});
