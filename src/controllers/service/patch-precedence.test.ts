/** Of two services that name one Deployment the older one patches it, also when it names the Deployment later than the other. */
import { describe, expect, test } from "vitest";
import { latticeService } from "../../../test/builders/lattice-objects.ts";
import {
  account,
  deployment,
  isPatched,
  nginx,
  patching,
  recordIn,
  specOf,
  startPatching,
  storedPatches,
  type Started,
} from "../../../test/builders/patched-service.ts";

/** The service in the record of shop/nginx. */
const patchedBy = async (started: Started) => recordIn(await nginx(started))?.service;

describe("an older service takes over the Deployment of a younger one", () => {
  test("when it gets a workloadRef, and the younger one gets the Deployment back when the older one is changed again", async () => {
    await using started = await startPatching([account(), deployment(), latticeService("shop/older")]);
    const { operated } = started;
    await operated.apply(patching());
    await operated.live(6_000, 500);
    expect(await patchedBy(started)).toBe("shop/web");
    await operated.apply(patching({}, "shop/older"));
    await operated.live(70_000, 1_000);
    expect((await nginx(started))?.metadata.labels).toMatchObject({ "lattice.dev/service": "older" });
    expect(await patchedBy(started)).toBe("shop/older");
    expect(await operated.condition("shop/older", "Ready")).toMatchObject({ status: "True" });
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "False", reason: "WorkloadClaimed" });
    await operated.apply(latticeService("shop/older"));
    await operated.live(70_000, 1_000);
    expect(await patchedBy(started)).toBe("shop/web");
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
  });

  test("when it goes from another Deployment to this one, and the other Deployment is restored", async () => {
    await using started = await startPatching([account(), deployment({ name: "first" }), deployment()]);
    const { operated } = started;
    const before = specOf(await operated.read("Deployment", "shop/first"));
    await operated.apply(patching({ workloadRef: { name: "first", namespace: "shop" } }, "shop/older"));
    await operated.live(6_000, 500);
    await operated.apply(patching());
    await operated.live(6_000, 500);
    expect([isPatched(await operated.read("Deployment", "shop/first")), await patchedBy(started)]).toEqual([true, "shop/web"]);
    await operated.apply(patching({}, "shop/older"));
    await operated.live(70_000, 1_000);
    expect(await patchedBy(started)).toBe("shop/older");
    expect(await operated.condition("shop/older", "Ready")).toMatchObject({ status: "True" });
    const first = await operated.read("Deployment", "shop/first");
    expect([isPatched(first), specOf(first)]).toEqual([false, before]);
    expect(await storedPatches(operated)).toHaveLength(1);
  });
});
