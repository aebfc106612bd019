/** Secret values are copied from a Secret into a compiled Secret, and nowhere else. */
import { expect, test } from "vitest";
import { latticeKinds } from "#crds";
import { meshKinds, secrets as secretKind, secretsByMetadata } from "#kube";
import { failWith } from "#embedded-cluster";
import { environment, latticeService, secret, secretBindings, withVariables } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

const CANARY = "c4n4ry-Pa55word";
/** Encodings in which a value could leak: plain, base64, URL, hex. */
const FORMS = [
  CANARY,
  Buffer.from(CANARY).toString("base64"),
  encodeURIComponent(`${CANARY}/&`).slice(0, CANARY.length),
  Buffer.from(CANARY).toString("hex"),
];

const DB = { type: "postgres", id: "main-db" };
const PASSWORD = "${resources.db.password}";
const BOUND = "${secrets.stripe.key}";

const KINDS = [
  ...[...latticeKinds, ...meshKinds].map(({ kind }) => kind),
  "Secret",
  "ConfigMap",
  "Deployment",
  "ReplicaSet",
  "Pod",
  "Service",
  "ServiceAccount",
  "Namespace",
  "PersistentVolumeClaim",
];

/** Every field that accepts templates, with valid and invalid ones. */
const rows = [
  { name: "a variable", spec: withVariables({ P: PASSWORD, Q: `x${PASSWORD}y`, B: BOUND, URL: "${resources.db.connection_string}" }) },
  { name: "a file", spec: { containers: { main: { image: "a:1", files: { "/etc/p": { content: `p=${PASSWORD} ${BOUND}` } } } } } },
  {
    name: "a file beside an error",
    spec: { containers: { main: { image: "a:1", files: { "/etc/p": { content: `${PASSWORD} \${config.nope}` } } } } },
  },
  { name: "a volume's source", spec: { containers: { main: { image: "a:1", volumes: { "/d": { source: `pvc:${PASSWORD}` } } } } } },
  {
    name: "the storage class of a volume",
    spec: { containers: { main: { image: "a:1", volumes: { "/d": { source: `${PASSWORD}:x` } } } } },
  },
  {
    name: "a param that contains a secret",
    spec: withVariables({ U: "${resources.other.url}", S: "${resources.other.connection_string}" }),
    params: { database: BOUND },
  },
  { name: "a param that must be a port", spec: withVariables({ U: "${resources.other.url}" }), params: { port: BOUND } },
  { name: "a reference built from it", spec: withVariables({ X: "${config.${resources.db.password}}" }) },
  { name: "an unknown output beside it", spec: withVariables({ X: `${PASSWORD} \${resources.db.nope}` }) },
];

test.each(rows)("a sensitive value in $name is in the data of Secrets and nowhere else", async ({ spec, params }) => {
  const resources = {
    db: DB,
    ...(params === undefined ? {} : { other: { type: "postgres", params } }),
    web: { type: "route", params: { host: "a.example.com", path: "/" } },
  };
  await using operated = await OperatedCluster.start({
    objects: [
      environment("shop", { defaults: { config: { level: "info" } } }),
      secret("shop/postgres-main-db", { password: CANARY }),
      secret("shop/postgres-other", { password: CANARY }),
      secret("shop/stripe", { key: CANARY }),
      secretBindings("shop/all", { bindings: { stripe: { secretRef: { name: "stripe" } } } }),
      latticeService("shop/api", { ...spec, environment: "shop", resources }),
    ],
  });
  // a secret that changes is read again; a restart reads all of them
  await operated.apply(secret("shop/stripe", { key: `${CANARY}2` }));
  await operated.live(2_000, 200);
  await operated.stopOperator();
  operated.startOperator();
  await operated.live(2_000, 200);
  const outputs: string[] = [JSON.stringify(operated.lines), operated.metrics.render(), JSON.stringify(await operated.events())];
  for (const kind of KINDS) {
    const items = (await operated.list(kind)) as readonly { data?: unknown }[];
    outputs.push(JSON.stringify(kind === "Secret" ? items.map(({ data: _data, ...rest }) => rest) : items));
  }
  for (const form of FORMS) expect(outputs.filter((text) => text.includes(form)).map((text) => text.slice(0, 200))).toEqual([]);
});

test("a value reaches the pod through a Secret, changes with it, and values of External Secrets are never read", async () => {
  const bindings = {
    stripe: { secretRef: { name: "stripe" } },
    vault: { external: { storeRef: { kind: "ClusterSecretStore", name: "vault" }, key: "kv/app" } },
  };
  await using operated = await OperatedCluster.start({
    objects: [
      secretBindings("shop/all", { bindings }),
      secret("shop/stripe", { key: "one" }),
      latticeService("shop/api", withVariables({ S: BOUND, V: "${secrets.vault.token}" })),
    ],
  });
  const hash = async () => /sha256:[0-9a-f]+/.exec(JSON.stringify(await operated.read("Deployment", "shop/api")))?.[0];
  const hashes = [await hash()];
  expect(await operated.read("Secret", "shop/api-secrets")).toMatchObject({ data: { S: btoa("one") } });
  expect(await operated.names("ExternalSecret", "shop")).toHaveLength(1);
  expect(await operated.condition("shop/api", "ConfigCompiled")).toMatchObject({
    message: "Generated 0 ConfigMaps, 1 Secrets, 1 ExternalSecrets",
  });
  await operated.apply(secret("shop/stripe", { key: "two" }));
  await operated.live(2_000, 200);
  hashes.push(await hash());
  expect(await operated.read("Secret", "shop/api-secrets")).toMatchObject({ data: { S: btoa("two") } });
  // External Secrets syncs to a Secret of its own; only its version is read
  const [synced = ""] = await operated.names("ExternalSecret", "shop");
  await operated.apply(secret(`shop/${synced}`, { V: "from the vault" }));
  await operated.live(2_000, 200);
  hashes.push(await hash());
  expect(new Set(hashes).size).toBe(3);
  const reads = operated.cluster.actions.filter({ verb: "get", resource: "secrets" }).filter(({ user }) => user.name === "operator");
  expect(reads.map(({ name }) => name)).not.toContain(synced);
});

test("only Secrets that a service needs are read with their values", async () => {
  await using operated = await OperatedCluster.start({
    objects: [
      secret("shop/private", { key: "x" }),
      secret("shop/postgres-db", { password: "p" }),
      latticeService("shop/api", { ...withVariables({ P: "${resources.db.password}" }), resources: { db: { type: "postgres" } } }),
    ],
  });
  const asked = operated.cluster.actions
    .filter({ resource: "secrets" })
    .filter(({ user, verb }) => user.name === "operator" && verb === "get");
  const names = new Set(asked.map(({ namespace, name }) => `${namespace}/${name}`));
  expect([...names].toSorted()).toEqual(["lattice-system/lattice-config-hash-key", "shop/api-secrets", "shop/postgres-db"]);
  const cached = operated.manager.cache.list(secretsByMetadata);
  expect(cached.map(({ metadata }) => metadata.name)).toContain("private");
  expect(cached.filter((object) => "data" in object)).toEqual([]);
});

test("the key of the config hash is created once, and another cluster has another key", async () => {
  await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", withVariables({ A: "b" }))] });
  const key = { namespace: "lattice-system", name: "lattice-config-hash-key" };
  const made = await operated.client.get(secretKind, key);
  expect(made).toMatchObject({
    ok: true,
    value: { immutable: true, data: { key: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/) as string } },
  });
  await operated.stopOperator();
  operated.startOperator();
  await operated.live(3_000, 200);
  expect(operated.writes().filter((line) => line.includes("config-hash-key"))).toEqual([
    "create secrets lattice-system/lattice-config-hash-key",
  ]);
});

test("a config hash key that cannot be created is reported, no pod starts without it, and the service continues once it can be created", async () => {
  await using operated = await OperatedCluster.start({});
  const refusal = operated.cluster.intercept({ verb: "create", resource: "secrets" }, failWith("forbidden"));
  await operated.apply(secret("shop/postgres-db", { password: "p" }));
  await operated.apply(
    latticeService("shop/api", { ...withVariables({ P: "${resources.db.password}" }), resources: { db: { type: "postgres" } } }),
  );
  await operated.live(3_000, 500);
  const { status } = await operated.service("shop/api");
  expect(status).toMatchObject({ phase: "Compiling", message: expect.stringContaining("secrets") as string });
  expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "Unknown", reason: "ReconcileFailed" });
  expect(await operated.read("Deployment", "shop/api")).toBeUndefined();
  refusal[Symbol.dispose]();
  await operated.live(60_000, 1_000);
  expect((await operated.service("shop/api")).status).toMatchObject({ phase: "Ready" });
});
