/** Offers to clusters that a cell adopts, when the API server or the access records fail: each reason is logged once, and the next look succeeds. */
import { expect, onTestFinished, test } from "vitest";
import { createLogger, err, FakeClock, ok, sensitive, type Result } from "#base";
import type { CacheReader } from "#controller-runtime";
import { ADOPTED_ANNOTATION, adoptionSecretOf } from "#controllers";
import type { LatticeCluster } from "#crds";
import { failWith, startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { secrets, secretsByMetadata, type KubeObject, type ObjectKey, type Resource } from "#kube";
import { rawCluster } from "../../../test/builders/valid-resources.ts";
import { followAdoptions, type AdoptionsOptions } from "./adoptions.ts";

const HOME = "lattice-system";
const OFFER = { namespace: HOME, name: adoptionSecretOf("leaf") };
const LOOK_MS = 2_000;
type Created = Awaited<ReturnType<AdoptionsOptions["registrations"]["createAccess"]>>;

class AdoptionWorld {
  readonly clock = new FakeClock();
  readonly lines: string[] = [];
  readonly cluster: EmbeddedCluster;
  /** The LatticeCluster of the adopted cluster; undefined: it was deleted. */
  adopted: LatticeCluster | undefined;
  access:
    | { readonly closed: boolean; readonly revoked: boolean; readonly certificates: readonly { readonly connected: boolean }[] }
    | undefined;
  created: Result<{ readonly bootstrapToken?: ReturnType<typeof sensitive<string>> }, { readonly message: string }> = ok({
    bootstrapToken: sensitive("leaf.the-token"),
  });

  private constructor(cluster: EmbeddedCluster) {
    this.cluster = cluster;
    const raw = rawCluster({ cellRef: "hq" }, "leaf");
    const metadata = { ...(raw["metadata"] as object), annotations: { [ADOPTED_ANNOTATION]: "uid-leaf" } };
    this.adopted = { ...raw, metadata } as unknown as LatticeCluster;
  }

  static async open(): Promise<AdoptionWorld> {
    const cluster = await startEmbeddedCluster({ objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } }] });
    const world = new AdoptionWorld(cluster);
    const stop = new AbortController();
    const following = followAdoptions(world.#options(), stop.signal);
    onTestFinished(async () => {
      stop.abort();
      await following;
      await cluster.close();
    });
    return world;
  }

  get offer(): KubeObject | undefined {
    return this.cluster.peek<KubeObject>(secrets, OFFER);
  }

  async look(): Promise<void> {
    await this.clock.advance(LOOK_MS);
    // the look itself ends later: it makes requests
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  #options(): AdoptionsOptions {
    const cache = {
      get: (resource: Resource, key: ObjectKey) => (resource === secretsByMetadata ? this.cluster.peek(secrets, key) : this.adopted),
      list: (resource: Resource) =>
        (resource === secretsByMetadata ? [this.offer] : [this.adopted]).filter((object) => object !== undefined),
    } as unknown as CacheReader;
    const registrations = {
      accessOf: () => this.access,
      createAccess: () => Promise.resolve(this.created as Created),
    } as unknown as AdoptionsOptions["registrations"];
    return {
      cache,
      client: this.cluster.client,
      clock: this.clock,
      logger: createLogger((level, message, fields) => void this.lines.push(`${level} ${message} ${JSON.stringify(fields)}`)),
      home: HOME,
      cell: "hq",
      endpoints: { host: "::1", grpcPort: 1, bootstrapPort: 2, proxyPort: 3, service: { type: "ClusterIP" } },
      trustBundle: () => "PEM",
      registrations,
    };
  }
}

type Row = {
  readonly name: string;
  /** Makes the next looks fail; returns what repairs it. */
  readonly given: (world: AdoptionWorld) => () => void;
  readonly want: string;
};

const forbidden = (world: AdoptionWorld, verb: "create" | "delete") => {
  const fault = world.cluster.intercept({ verb, resource: "secrets", times: Number.POSITIVE_INFINITY }, failWith("forbidden"));
  return () => fault[Symbol.dispose]();
};

const rows: readonly Row[] = [
  {
    name: "an access record that cannot be written",
    given: (world) => {
      const before = world.created;
      world.created = err({ message: "the record cannot be written" });
      return () => void (world.created = before);
    },
    want: "the record cannot be written",
  },
  {
    name: "a record that another process has changed",
    given: (world) => {
      const before = world.created;
      world.created = ok({});
      return () => void (world.created = before);
    },
    want: "its record changed meanwhile",
  },
  { name: "an offer that cannot be created", given: (world) => forbidden(world, "create"), want: "forbidden" },
  { name: "an old offer that cannot be deleted", given: (world) => forbidden(world, "delete"), want: "forbidden" },
];

test.for(rows)("$name is logged once, without the token, and the next look makes the offer", async ({ given, want }) => {
  const world = await AdoptionWorld.open();
  const { adopted } = world;
  world.adopted = undefined;
  await world.look();
  const repair = given(world);
  world.adopted = adopted;
  await world.look();
  await world.look();
  expect(world.offer).toBeUndefined();
  expect(world.lines).toEqual([expect.stringMatching(new RegExp(`^warn a cluster cannot be adopted yet .*${want}`))]);
  repair();
  await world.look();
  expect(world.offer?.metadata.labels).toMatchObject({ "lattice.dev/adoption": "leaf" });
  expect(world.lines.join("\n")).not.toContain("the-token");
});

test("an offer that cannot be withdrawn stays until it can, and a failure later is logged again", async () => {
  const world = await AdoptionWorld.open();
  await world.look();
  expect(world.offer).toBeDefined();
  const repair = forbidden(world, "delete");
  world.access = { closed: false, revoked: false, certificates: [{ connected: true }] };
  await world.look();
  await world.look();
  expect([world.offer !== undefined, world.lines.length]).toEqual([true, 1]);
  repair();
  await world.look();
  expect(world.offer).toBeUndefined();
  world.access = undefined;
  const again = forbidden(world, "create");
  await world.look();
  again();
  expect(world.lines.length).toBe(2);
});

test("an expired offer is replaced as a whole", async () => {
  const world = await AdoptionWorld.open();
  await world.look();
  const before = world.offer?.metadata.uid;
  await world.clock.advance(24 * 3_600_000);
  await world.look();
  expect(world.offer?.metadata.uid).not.toBe(before);
});
