/** `kubectl apply -f examples/` on a cluster with Lattice: every pod becomes Ready, and the shop beside them is unaffected. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectOk } from "#base";
import { fieldAt, parseYaml, type Condition, type KubeObject } from "#kube";
import { secret } from "../builders/lattice-objects.ts";
import { OperatedCluster } from "../builders/operated-cluster.ts";
import { patchWebhook } from "../builders/patch-webhook.ts";

const CLUSTER_WIDE = new Set(["Namespace", "LatticeEnvironment", "LatticeCluster", "LatticeImageRegistry"]);

/** As kubectl does: by file name, into `default` where the file has no namespace. */
function objectsIn(folder: string): readonly KubeObject[] {
  const home = join(import.meta.dirname, "../..", folder);
  const files = readdirSync(home).filter((name) => name.endsWith(".yaml"));
  const documents = files.toSorted().flatMap((name) => expectOk(parseYaml(readFileSync(join(home, name), "utf8"))));
  return (documents as unknown as readonly KubeObject[]).map((object) =>
    CLUSTER_WIDE.has(object.kind) ? object : { ...object, metadata: { namespace: "default", ...object.metadata } },
  );
}

const isReady = ({ type, status }: Condition) => type === "Ready" && status === "True";

test(
  "all kinds that this release reconciles become Ready with their pods; clusters wait for a cell, and the status of the others is NotYetBuilt",
  { timeout: 60_000 },
  async () => {
    const secrets = [secret("shop/postgres-products", { password: "p" }, "default"), secret("shop/stripe", { "api-key": "k" }, "default")];
    await using operated = await OperatedCluster.start({ objects: [...secrets, ...objectsIn("examples/shop")] });
    await operated.live(10_000, 500);
    patchWebhook(operated.cluster);
    const examples = objectsIn("examples");
    await operated.apply(...examples);
    await operated.live(15_000, 500);
    const seen = await Promise.all(
      [...examples, ...objectsIn("examples/shop")]
        .filter(({ apiVersion }) => apiVersion.startsWith("lattice.dev/"))
        .map(async ({ kind, metadata: { name, namespace } }) => {
          const object = await operated.read(kind, namespace === undefined ? name : `${namespace}/${name}`);
          const conditions = fieldAt(object, "status", "conditions") as readonly Condition[];
          const reason = conditions.find(({ type }) => type === "Ready")?.reason;
          const phase = fieldAt(object, "status", "phase");
          return `${kind} ${name}: ${typeof phase === "string" ? phase : "nothing"}, ${reason}`;
        }),
    );
    expect(seen.toSorted()).toMatchInlineSnapshot(`
    [
      "LatticeCluster mgmt: Pending, NotACell",
      "LatticeCluster prod-eu: Pending, NotACell",
      "LatticeEnvironment prod: Ready, Compiled",
      "LatticeEnvironment shop: Ready, Compiled",
      "LatticeExternalService mainframe: Ready, Compiled",
      "LatticeExternalService stripe-api: Ready, Compiled",
      "LatticeExternalService stripe: Ready, Compiled",
      "LatticeImageRegistry company: Pending, NotYetBuilt",
      "LatticeSecretBindings frontend: Ready, Accepted",
      "LatticeSecretBindings payments: Ready, Accepted",
      "LatticeService api-gateway: Ready, Compiled",
      "LatticeService api: Ready, Compiled",
      "LatticeService cart: Ready, Compiled",
      "LatticeService catalog: Ready, Compiled",
      "LatticeService checkout: Ready, Compiled",
      "LatticeService frontend: Ready, Compiled",
      "LatticeService payments: Ready, Compiled",
      "LatticeService storefront: Ready, Compiled",
      "LatticeServiceConfig api-gateway: Ready, Accepted",
      "LatticeServiceConfig frontend: Ready, Accepted",
      "LatticeServiceConfig prod: Ready, Accepted",
      "LatticeServiceRegistration shop: Pending, NotYetBuilt",
    ]
  `);
    const waiting = (await operated.list("Deployment")).filter(({ status }: KubeObject & { readonly status?: unknown }) => {
      return fieldAt(status, "readyReplicas") !== fieldAt(status, "replicas");
    });
    expect(waiting.map(({ metadata }) => metadata.name)).toEqual([]);
    const pods = await operated.list("Pod");
    const ready = pods.filter((pod) => (fieldAt(pod, "status", "conditions") as readonly Condition[]).some(isReady));
    const byService = Map.groupBy(ready, ({ metadata }) => metadata.labels?.["lattice.dev/service"]);
    expect(ready).toHaveLength(pods.length);
    expect(Object.fromEntries([...byService].map(([name, those]) => [name, those.length]))).toEqual({
      api: 2,
      "api-gateway": 1,
      cart: 2,
      catalog: 2,
      checkout: 2,
      frontend: 2,
      payments: 2,
      storefront: 2,
    });
  },
);
