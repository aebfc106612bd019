/**
 * The operator for some namespaces on a real API server, as its ServiceAccount with exactly the roles of `lattice rbac --namespaces`, under
 * real RBAC.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { reducedMeshCrds } from "#controllers";
import { formatYamlDocuments } from "#kube";
import { OPERATOR_NAME, operatorRbac } from "#operator";
import { SHAREABLE_LABEL } from "#service-compiler";
import { eventually, installLatticeCrds, realPlane, uniqueName, type RealPlane } from "./harness/index.ts";

const project = fileURLToPath(new URL("../..", import.meta.url));
const [home, team, shop, payroll] = ["home", "team", "shop", "payroll"].map(uniqueName) as [string, string, string, string];
const user = `system:serviceaccount:${home}:${OPERATOR_NAME}`;

/** A separate plane: another story needs a plane without the kinds of the mesh. */
let plane: RealPlane;
let folder: string;
let operator: ChildProcess;
let output = "";

const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const apply = (...objects: readonly object[]) =>
  plane.kubectlOk(["apply", "--server-side", "--force-conflicts", "-f", "-"], { stdin: formatYamlDocuments(objects) });

beforeAll(async () => {
  plane = await realPlane();
  folder = mkdtempSync(join(tmpdir(), "lattice-operator-namespaces-"));
  await installLatticeCrds(plane);
  await apply(...reducedMeshCrds(), ...[team, shop, payroll].map(namespace));
  await apply(...operatorRbac(home, [team, shop]));
  await apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "salaries", namespace: payroll }, stringData: { ceo: "much" } });
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${home}`, "system:authenticated"];
  writeFileSync(join(folder, "kubeconfig"), plane.kubeconfigFor(user, groups), { mode: 0o600 });
  const flags = [
    "--kubeconfig",
    join(folder, "kubeconfig"),
    "--namespace",
    home,
    "--namespaces",
    `${team},${shop}`,
    "--log-format",
    "json",
  ];
  operator = spawn(process.execPath, [join(project, "src/bin/lattice.ts"), "operator", ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [operator.stdout, operator.stderr]) stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
}, 240_000);

afterAll(async () => {
  operator.kill("SIGKILL");
  await plane.stop();
  rmSync(folder, { recursive: true, force: true });
});

const lattice = { apiVersion: "lattice.dev/v1alpha1" };
const containers = { main: { image: "registry.example.com/api:1", variables: { PASSWORD: "${resources.db.password}" } } };
const service = (name: string, environment: string) => ({
  ...lattice,
  kind: "LatticeService",
  metadata: { name, namespace: team },
  spec: { environment, containers, resources: { db: { type: "postgres" } }, service: { ports: { http: { port: 8080 } } } },
});
const environment = (name: string) => ({ ...lattice, kind: "LatticeEnvironment", metadata: { name }, spec: { sourceNamespaces: [team] } });
const ready = (name: string) =>
  plane.kubectlOk(["get", "ls", name, "-n", team, "-o", 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}']);

test("a service of one namespace runs in the other and is deleted again, and RBAC denies the operator nothing", async () => {
  await apply(
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "postgres-db", namespace: shop, labels: { [SHAREABLE_LABEL]: team } },
      stringData: { password: "hunter2" },
    },
    environment(shop),
    service("api", shop),
  );
  await eventually("it is compiled and applied", async () => ((await ready("api")) === "RollingOut" ? true : undefined), {
    withinMs: 60_000,
  });
  const read = (what: string, path: string) => plane.kubectlOk(["get", ...what.split(" "), "-n", shop, "-o", `jsonpath={${path}}`]);
  expect(await read("deployment api", ".metadata.name")).toBe("api");
  expect(await read("ciliumnetworkpolicies.cilium.io lattice-default-deny", ".metadata.name")).toBe("lattice-default-deny");
  expect(await plane.kubectlOk(["get", "ns", shop, "-o", "jsonpath={.metadata.labels}"])).toContain("ambient");
  await eventually("its environment is ready", async () =>
    (await plane.kubectlOk(["get", "latticeenvironments", shop, "-o", "jsonpath={.status.phase}"])) === "Ready" ? true : undefined,
  );
  await plane.kubectlOk(["delete", "ls", "api", "-n", team, "--wait=true"]);
  await eventually("its Deployment is gone", async () =>
    (await read("deployments", ".items[*].metadata.name")) === "" ? true : undefined,
  );
  expect(output).not.toMatch(/forbidden/i);
  expect(output).not.toContain("hunter2");
});

test("a service in a namespace that the operator does not manage reports it, and RBAC denies the operator access", async () => {
  await apply(environment(payroll), service("spy", payroll));
  await eventually("its condition reports it", async () => ((await ready("spy")) === "NamespaceOutOfReach" ? true : undefined), {
    withinMs: 40_000,
  });
  const as = (...args: readonly string[]) => plane.kubectl(["--as", user, "--as-group", "system:serviceaccounts", ...args]);
  for (const attempt of [
    ["get", "secret", "salaries", "-n", payroll],
    ["get", "secrets", "-A"],
    ["get", "namespaces"],
    ["create", "deployment", "miner", "--image=x", "-n", payroll],
    ["label", "namespace", payroll, "a=b"],
    ["create", "namespace", uniqueName("mine")],
  ]) {
    expect(await as(...attempt), attempt.join(" ")).toMatchObject({ code: 1, stderr: expect.stringContaining("forbidden") as string });
  }
  const may = async (where: string) => (await as("auth", "can-i", "get", "secrets", "-n", where)).stdout.trim();
  expect([await may(shop), await may(payroll)]).toEqual(["yes", "no"]);
  expect(output).not.toMatch(/forbidden/i);
});
