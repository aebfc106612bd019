import { describe, expect, test } from "vitest";
import { latticeExternalServices } from "#crds";
import { field } from "#kube";
import { environment, externalService, latticeService } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

const status = async (operated: OperatedCluster, key: string) => field(await operated.read("LatticeExternalService", key), "status");

describe("an external service", () => {
  test("has ServiceEntries for its hosts, which are deleted with it", async () => {
    const stripe = externalService("shop/stripe", { endpoints: { api: "https://api.stripe.com", hooks: "https://hooks.stripe.com:8443" } });
    await using operated = await OperatedCluster.start({ objects: [stripe] });
    expect(await status(operated, "shop/stripe")).toMatchObject({
      phase: "Ready",
      hosts: ["api.stripe.com", "hooks.stripe.com"],
      message: "open to its requesters: api.stripe.com, hooks.stripe.com",
      conditions: expect.arrayContaining([expect.objectContaining({ type: "Ready", status: "True", reason: "Compiled" })]) as unknown,
    });
    expect(await operated.names("ServiceEntry", "shop")).toHaveLength(2);
    await operated.apply(externalService("shop/stripe", { endpoints: { api: "https://api.stripe.com" } }));
    await operated.live(2_000);
    expect(await operated.names("ServiceEntry", "shop")).toEqual(["stripe"]);
    await operated.remove(latticeExternalServices, "shop/stripe");
    await operated.live(3_000);
    expect(await operated.names("ServiceEntry", "shop")).toEqual([]);
  });

  test("in an environment has its objects in that namespace, waits for it, and removes them from there", async () => {
    const db = externalService("team/db", { environment: "prod", resolution: "static", endpoints: { tcp: "tcp://10.0.0.5:5432" } });
    await using operated = await OperatedCluster.start({ objects: [db] });
    expect(await status(operated, "team/db")).toMatchObject({
      phase: "Pending",
      message: expect.stringContaining("waiting for LatticeEnvironment prod: namespace team may not deploy into prod") as string,
    });
    await operated.apply(environment("prod", { sourceNamespaces: ["team"] }));
    await operated.live(5_000);
    expect(await status(operated, "team/db")).toMatchObject({ phase: "Ready", hosts: ["10.0.0.5"] });
    expect(await operated.names("ServiceEntry", "prod")).toEqual(["db"]);
    await operated.remove(latticeExternalServices, "team/db");
    await operated.live(3_000);
    expect(await operated.names("ServiceEntry", "prod")).toEqual([]);
  });

  test("with the name of a service is reported, and the service has precedence", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/db")] });
    await operated.apply(externalService("shop/db", { endpoints: { a: "https://a.example.com" } }));
    await operated.live(2_000);
    expect(await status(operated, "shop/db")).toMatchObject({
      phase: "Failed",
      message: expect.stringContaining("LatticeService shop/db has the same name") as string,
    });
    expect((await operated.service("shop/db")).status?.phase).toBe("Ready");
  });
});
