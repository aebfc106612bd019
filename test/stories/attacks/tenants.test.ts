/**
 * A tenant who may write LatticeServices in one namespace, and nothing else, on a cluster with Lattice. Each attack uses a service file to get
 * access that RBAC denies: it is rejected with the path of the field, and creates no Deployment.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeServices } from "#crds";
import { resources, type FixtureObject } from "#embedded-cluster";
import { field, fieldAt, type KubeObject } from "#kube";
import { documentedTests, isTestOf } from "../../builders/documented-tests.ts";
import { environment, latticeService, secret } from "../../builders/lattice-objects.ts";
import { OperatedCluster } from "../../builders/operated-cluster.ts";

const IMAGE = "registry.example.com/app:1";
const ALICE = "team-a";
const MALLORY = "team-b";

const PROD = { sourceNamespaces: [ALICE, MALLORY], ingressDomain: "apps.example.com", routes: { hosts: ["shop.example.com"] } };

function tenantRights(namespace: string): readonly FixtureObject[] {
  const rules = [{ apiGroups: ["lattice.dev"], resources: ["latticeservices"], verbs: ["*"] }];
  const group = "rbac.authorization.k8s.io";
  return [
    { apiVersion: `${group}/v1`, kind: "Role", metadata: { name: "tenant", namespace }, rules },
    {
      apiVersion: `${group}/v1`,
      kind: "RoleBinding",
      metadata: { name: "tenant", namespace },
      roleRef: { apiGroup: group, kind: "Role", name: "tenant" },
      subjects: [{ apiGroup: group, kind: "User", name: namespace }],
    },
  ];
}

class SharedEnvironment {
  readonly operated: OperatedCluster;

  private constructor(operated: OperatedCluster) {
    this.operated = operated;
  }

  static async start(spec: object = {}, objects: readonly FixtureObject[] = []): Promise<SharedEnvironment> {
    const all = [environment("prod", { ...PROD, ...spec }), ...[ALICE, MALLORY].flatMap(tenantRights), ...objects];
    return new SharedEnvironment(await OperatedCluster.start({ objects: all }));
  }

  /** Writes a service of environment prod with the rights of the tenant, and lets the operator reconcile. */
  async write(tenant: string, name: string, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const { cluster } = this.operated;
    const object = latticeService(`${tenant}/${name}`, { environment: "prod", ...spec }) as KubeObject;
    const client = cluster.clientFor({ name: tenant });
    expectOk(await client.apply(latticeServices, object as never, { fieldManager: "kubectl", force: true }));
    await this.operated.live(3_000);
  }

  async message(key: string): Promise<string> {
    const message = field((await this.operated.service(key)).status ?? {}, "message");
    return typeof message === "string" ? message : "";
  }

  /** The message of a service that was rejected and has no Deployment. */
  async refusal(tenant: string, name: string): Promise<string> {
    const { operated } = this;
    expect((await operated.service(`${tenant}/${name}`)).status?.phase).toBe("Failed");
    expect(await operated.read("Deployment", `prod/${name}`)).toBeUndefined();
    return this.message(`${tenant}/${name}`);
  }

  async isReady(key: string): Promise<boolean> {
    return (await this.operated.service(key)).status?.phase === "Ready";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.operated[Symbol.asyncDispose]();
  }
}

const container = (fields: object) => ({ containers: { main: { image: IMAGE, ...fields } } });
const mounts = (source: string) => container({ volumes: { "/data": { source } } });
const route = (params: object) => ({ resources: { web: { type: "route", params } } });

test("a tenant of these stories may write LatticeServices, and nothing else", async () => {
  await using shared = await SharedEnvironment.start();
  const client = shared.operated.cluster.clientFor({ name: MALLORY });
  const key = { namespace: "prod", name: "payroll" };
  expect(await client.get(resources.secrets, key)).toMatchObject({ ok: false, error: { kind: "forbidden" } });
  const elsewhere = latticeService(`${ALICE}/x`) as never;
  expect(await client.create(latticeServices, elsewhere)).toMatchObject({ ok: false, error: { kind: "forbidden" } });
});

test("a tenant cannot run a service in an environment that does not list its namespace", async () => {
  await using shared = await SharedEnvironment.start({ sourceNamespaces: [ALICE] });
  await shared.write(MALLORY, "guest");
  expect(await shared.refusal(MALLORY, "guest")).toContain("namespace team-b may not deploy into prod");
});

describe("pod security", () => {
  test("a tenant cannot run a privileged container", async () => {
    await using shared = await SharedEnvironment.start();
    await shared.write(MALLORY, "miner", container({ securityContext: { privileged: true } }));
    const message = await shared.refusal(MALLORY, "miner");
    expect(message).toContain("spec.containers.main.securityContext.privileged");
    expect(message).toContain("privileged");
    expect(message).toContain("restricted");
  });

  test("a tenant cannot leave the mesh with an annotation on its pods", async () => {
    await using shared = await SharedEnvironment.start();
    await shared.write(MALLORY, "miner", { ...container({}), annotations: { "ambient.istio.io/redirection": "disabled" } });
    expect(await shared.refusal(MALLORY, "miner")).toContain('spec.annotations["ambient.istio.io/redirection"]');
  });

  test("a tenant cannot run as root unless the environment's level allows it", async () => {
    await using shared = await SharedEnvironment.start({ isolation: { podSecurity: "baseline" } });
    await shared.write(MALLORY, "root", container({ securityContext: { runAsUser: 0 } }));
    expect(await shared.isReady(`${MALLORY}/root`)).toBe(true);
    await shared.operated.apply(environment("prod", PROD));
    await shared.operated.live(3_000);
    expect(await shared.message(`${MALLORY}/root`)).toContain("spec.containers.main.securityContext.runAsUser");
  });

  test("the namespace of an environment carries the labels of its pod security level", async () => {
    await using shared = await SharedEnvironment.start();
    const level = async () => (await shared.operated.read("Namespace", "prod"))?.metadata.labels?.["pod-security.kubernetes.io/enforce"];
    expect(await level()).toBe("restricted");
    await shared.operated.apply(environment("prod", { ...PROD, isolation: { podSecurity: "privileged" } }));
    await shared.operated.live(3_000);
    expect(await level()).toBe("privileged");
  });
});

describe("objects by name", () => {
  const payroll = secret("prod/payroll", { salaries: "all-of-them" }) as KubeObject;
  const shareable = (value: string) => ({ ...payroll, metadata: { ...payroll.metadata, labels: { "lattice.dev/shareable": value } } });

  test("a tenant cannot mount another team's Secret, until its owner labels it shareable", async () => {
    await using shared = await SharedEnvironment.start({}, [payroll]);
    await shared.write(MALLORY, "thief", mounts("secret:payroll"));
    const message = await shared.refusal(MALLORY, "thief");
    expect(message).toContain('spec.containers.main.volumes["/data"]');
    expect(message).toContain("lattice.dev/shareable");
    await shared.operated.apply(shareable(ALICE));
    await shared.operated.live(3_000);
    await shared.refusal(MALLORY, "thief");
    await shared.operated.apply(shareable("true"));
    await shared.operated.live(3_000);
    expect(await shared.isReady(`${MALLORY}/thief`)).toBe(true);
  });

  test("a Secret that exists and one that does not are refused with the same message", async () => {
    await using shared = await SharedEnvironment.start({}, [payroll]);
    await shared.write(MALLORY, "guess-a", mounts("secret:payroll"));
    await shared.write(MALLORY, "guess-b", mounts("secret:nothing"));
    const [there, absent] = [await shared.refusal(MALLORY, "guess-a"), await shared.refusal(MALLORY, "guess-b")];
    expect(there.replaceAll("payroll", "X")).toBe(absent.replaceAll("nothing", "X"));
  });

  test("a tenant cannot mount another team's claim or ConfigMap", async () => {
    const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings", namespace: "prod" }, data: { a: "b" } };
    await using shared = await SharedEnvironment.start({}, [configMap]);
    await shared.write(ALICE, "api", {
      ...mounts("${resources.data.ref}"),
      resources: { data: { type: "volume", params: { size: "1Gi" } } },
    });
    expect(await shared.isReady(`${ALICE}/api`)).toBe(true);
    await shared.write(MALLORY, "disk", mounts("data"));
    expect(await shared.refusal(MALLORY, "disk")).toContain("PersistentVolumeClaim prod/data");
    await shared.write(MALLORY, "disk-b", { ...mounts("${resources.data.ref}"), resources: { data: { type: "volume" } } });
    expect(await shared.refusal(MALLORY, "disk-b")).toContain("PersistentVolumeClaim prod/data");
    await shared.write(MALLORY, "config", mounts("configmap:settings"));
    expect(await shared.refusal(MALLORY, "config")).toContain("ConfigMap prod/settings");
    await shared.write(ALICE, "reader", mounts("data"));
    expect(await shared.isReady(`${ALICE}/reader`)).toBe(true);
  });

  test("a tenant cannot take over a claim that another team made by hand", async () => {
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "ledger", namespace: "prod" }, spec };
    await using shared = await SharedEnvironment.start({}, [claim]);
    const own = { ledger: { type: "volume", params: { size: "1Gi" } } };
    await shared.write(MALLORY, "disk", { ...mounts("${resources.ledger.ref}"), resources: own });
    expect(await shared.refusal(MALLORY, "disk")).toContain("PersistentVolumeClaim prod/ledger");
  });

  test("a tenant cannot read the password of another team's database", async () => {
    await using shared = await SharedEnvironment.start({}, [secret("prod/postgres-billing", { password: "correct-horse" })]);
    await shared.write(MALLORY, "spy", {
      ...container({ variables: { PASSWORD: "${resources.billing.password}" } }),
      resources: { billing: { type: "postgres" } },
    });
    expect(await shared.refusal(MALLORY, "spy")).toContain("Secret postgres-billing");
    expect(await shared.operated.read("Secret", "prod/spy-secrets")).toBeUndefined();
  });
});

test("the table of docs/security.md names a test for every row, and each exists", () => {
  const sources = ["test/stories/attacks/tenants.test.ts", "src/compile/tenants.test.ts", "src/service-compiler/workload/canary.test.ts"];
  const table = documentedTests("docs/security.md", "What a tenant may do");
  expect(table.length).toBeGreaterThan(15);
  expect(table.filter((name) => !isTestOf(sources, name))).toEqual([]);
});

describe("route hosts", () => {
  const web = route({ host: "shop.example.com" });

  test("a tenant cannot claim a host outside the environment's domains", async () => {
    await using shared = await SharedEnvironment.start();
    await shared.write(MALLORY, "bank", route({ host: "www.bank.example" }));
    const message = await shared.refusal(MALLORY, "bank");
    expect(message).toContain("spec.resources.web");
    expect(message).toContain("www.bank.example");
    await shared.write(MALLORY, "below", route({ host: "any.thing.apps.example.com" }));
    expect(await shared.isReady(`${MALLORY}/below`)).toBe(true);
  });

  test("a tenant cannot claim a wildcard host", async () => {
    await using shared = await SharedEnvironment.start();
    for (const [name, host] of [
      ["all", "*.example.com"],
      ["apps", "*.apps.example.com"],
    ] as const) {
      await shared.write(MALLORY, name, route({ host }));
      expect(await shared.refusal(MALLORY, name)).toContain(host);
    }
  });

  test("a tenant cannot claim a path of another team's host", async () => {
    await using shared = await SharedEnvironment.start();
    await shared.write(ALICE, "shop", web);
    await shared.write(MALLORY, "login", route({ host: "shop.example.com", path: "/login" }));
    const message = await shared.refusal(MALLORY, "login");
    expect(message).toContain(`LatticeService ${ALICE}/shop`);
    expect(await shared.isReady(`${ALICE}/shop`)).toBe(true);
    await shared.operated.remove(latticeServices, `${ALICE}/shop`);
    await shared.operated.live(3_000);
    expect(await shared.isReady(`${MALLORY}/login`)).toBe(true);
  });

  test("an older service cannot take a host from the team that has it, by editing its route", async () => {
    await using shared = await SharedEnvironment.start();
    await shared.write(MALLORY, "sleeper", route({ host: "quiet.apps.example.com" }));
    await shared.operated.live(2_000);
    await shared.write(ALICE, "shop", web);
    await shared.write(MALLORY, "sleeper", web);
    expect(await shared.message(`${MALLORY}/sleeper`)).toContain(`LatticeService ${ALICE}/shop`);
    expect(await shared.isReady(`${ALICE}/shop`)).toBe(true);
    await shared.operated.stopOperator();
    shared.operated.startOperator();
    await shared.operated.live(3_000);
    expect(await shared.isReady(`${ALICE}/shop`)).toBe(true);
    expect(await shared.message(`${MALLORY}/sleeper`)).toContain(`LatticeService ${ALICE}/shop`);
  });

  test("a host that the environment no longer grants loses its route", async () => {
    await using shared = await SharedEnvironment.start();
    await shared.write(ALICE, "shop", web);
    expect(await shared.operated.names("HTTPRoute", "prod")).toEqual(["shop-web"]);
    await shared.operated.apply(environment("prod", { ...PROD, routes: { hosts: [] } }));
    await shared.operated.live(3_000);
    expect(await shared.message(`${ALICE}/shop`)).toContain("shop.example.com");
    expect(await shared.operated.names("HTTPRoute", "prod")).toEqual([]);
  });
});

describe("other namespaces", () => {
  const egressOf = async ({ operated }: SharedEnvironment, name: string) =>
    JSON.stringify(fieldAt(await operated.read("CiliumNetworkPolicy", `prod/${name}`), "spec", "egress") ?? []);
  const database = { resources: { x: { type: "redis", id: "data/x" } } };

  test("a tenant cannot open egress into another namespace with a database id", async () => {
    await using shared = await SharedEnvironment.start();
    await shared.write(MALLORY, "scan", { resources: { x: { type: "redis", id: "kube-system/x" } } });
    const message = await shared.refusal(MALLORY, "scan");
    expect(message).toContain("spec.resources.x");
    expect(message).toContain("spec.crossNamespace");
    expect(await egressOf(shared, "scan")).not.toContain("kube-system");
  });

  test("a namespace that the environment lists may be named, and is closed again when it is taken off the list", async () => {
    await using shared = await SharedEnvironment.start({ crossNamespace: ["data"] });
    await shared.write(MALLORY, "cache", database);
    expect(await shared.isReady(`${MALLORY}/cache`)).toBe(true);
    expect(await egressOf(shared, "cache")).toContain('"data"');
    await shared.operated.apply(environment("prod", PROD));
    await shared.operated.live(3_000);
    expect(await shared.message(`${MALLORY}/cache`)).toContain("spec.crossNamespace");
    expect(await egressOf(shared, "cache")).not.toContain('"data"');
  });
});

describe("names", () => {
  const canary = { deploy: { strategy: "canary" } };
  const names = ["x-primary", "x-canary"] as const;
  let messages: readonly string[] = [];

  beforeAll(async () => {
    await using shared = await SharedEnvironment.start();
    await shared.write(ALICE, "x", canary);
    const seen: string[] = [];
    for (const name of names) {
      await shared.write(MALLORY, name);
      seen.push(await shared.refusal(MALLORY, name));
    }
    messages = seen;
  });

  test.each(names.map((name, at) => ({ name, at })))("a tenant cannot take the name $name beside another team's canary", ({ name, at }) => {
    expect(messages[at]).toContain(name);
    expect(messages[at]).toContain(`LatticeService ${ALICE}/x`);
  });

  test("x-primary is refused beside another team's service x that is no canary yet", async () => {
    await using shared = await SharedEnvironment.start();
    await shared.write(ALICE, "x");
    await shared.write(MALLORY, "x-primary");
    expect(await shared.refusal(MALLORY, "x-primary")).toContain(`LatticeService ${ALICE}/x`);
    await shared.write(ALICE, "x-primary-b");
    await shared.write(ALICE, "y");
    await shared.write(ALICE, "y-primary");
    expect(await shared.isReady(`${ALICE}/y-primary`)).toBe(true);
  });
});
