/**
 * `lattice diff`, `why` and `graph` against a real API server with the published CRDs of Cilium, Istio and the others, where a real operator
 * process runs the shop: defaults of the server are no differences, and the results follow the objects in the cluster.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  eventually,
  installCrds,
  installLatticeCrds,
  MESH_CRDS,
  publishedCrds,
  realPlane,
  runProgram,
  type RealPlane,
} from "./harness/index.ts";

const project = fileURLToPath(new URL("../..", import.meta.url));
const program = join(project, "src/bin/lattice.ts");

let plane: RealPlane;
let cwd: string;
let operator: ChildProcess | undefined;
let unavailable: string | undefined;

beforeAll(async () => {
  plane = await realPlane();
  cwd = mkdtempSync(join(tmpdir(), "lattice-live-story-"));
  cpSync(join(project, "examples/shop"), join(cwd, "shop"), { recursive: true });
  const crds = await publishedCrds(MESH_CRDS);
  if (!crds.ok) {
    unavailable = crds.error;
    return;
  }
  await installLatticeCrds(plane);
  await installCrds(plane, crds.value);
  await plane.kubectlOk(["create", "namespace", "lattice-system"]);
  await plane.kubectlOk(["create", "namespace", "shop"]);
  await plane.kubectlOk(["create", "secret", "generic", "postgres-products", "-n", "shop", "--from-literal=password=made-up"]);
  await plane.kubectlOk(["create", "secret", "generic", "stripe", "-n", "shop", "--from-literal=api-key=made-up"]);
  // the services are in namespace default
  for (const name of ["postgres-products", "stripe"])
    await plane.kubectlOk(["label", "secret", name, "-n", "shop", "lattice.dev/shareable=default"]);
  await plane.kubectlOk(["apply", "-f", join(cwd, "shop")]);
  const flags = ["operator", "--kubeconfig", plane.kubeconfigPath, "--no-leader-elect"];
  operator = spawn(process.execPath, [program, ...flags], { stdio: "ignore" });
  await eventually("every service is applied", isApplied, { withinMs: 90_000 });
}, 240_000);

afterAll(async () => {
  operator?.kill("SIGKILL");
  await plane.stop();
  rmSync(cwd, { recursive: true, force: true });
});

/** There are no nodes: an applied service waits for its pods. */
async function isApplied(): Promise<true | undefined> {
  const ready = '{range .items[*]}{.status.conditions[?(@.type=="Ready")].reason} {end}';
  const reasons = (await plane.kubectlOk(["get", "ls,les,lenv", "-A", "-o", `jsonpath=${ready}`])).trim().split(" ");
  return reasons.length === 7 && reasons.every((reason) => ["Compiled", "RollingOut"].includes(reason)) ? true : undefined;
}

const lattice = (...args: readonly string[]) =>
  runProgram(process.execPath, [program, ...args], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: cwd, KUBECONFIG: plane.kubeconfigPath },
    limitMs: 60_000,
  });

function rewrite(file: string, change: (text: string) => string): void {
  const path = join(cwd, "shop", file);
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

describe("on a real API server", () => {
  test("diff reports no difference between the files and their objects: neither defaults of the server nor the default namespace count", async ({
    skip,
  }) => {
    if (unavailable !== undefined) skip(unavailable);
    expect(await lattice("diff", "-f", "shop")).toMatchObject({ code: 0, stdout: "no differences\n" });
  });

  test("graph shows the declared edges", async ({ skip }) => {
    if (unavailable !== undefined) skip(unavailable);
    const { code, stdout } = await lattice("graph");
    expect(code).toBe(0);
    expect(stdout).toContain("shop/cart        ->  shop/catalog                 closed: only the caller declares it\n");
    expect(stdout).toContain("shop/payments    ->  shop/stripe                  open to the outside\n");
  });

  test("why names the missing declaration, and reads the policies in the cluster", async ({ skip }) => {
    if (unavailable !== undefined) skip(unavailable);
    const { code, stdout } = await lattice("why", "cart", "catalog:http");
    expect(code).toBe(1);
    expect(stdout).toContain("shop/catalog does not declare that shop/cart may call it. Add to LatticeService default/catalog:\n");
    expect((await lattice("why", "storefront", "catalog:http")).code).toBe(0);
  });

  test("diff reports the effects of a change before it is applied", async ({ skip }) => {
    if (unavailable !== undefined) skip(unavailable);
    rewrite("catalog.yaml", (text) =>
      text.replace("storefront: { direction: inbound }", "storefront: { direction: inbound }\n    cart: { direction: inbound }"),
    );
    const { code, stdout } = await lattice("diff", "-f", "shop/catalog.yaml");
    expect(code).toBe(1);
    expect(stdout).toContain("flows\n  opened  shop/cart -> shop/catalog:8080\n");
    expect(stdout).not.toContain("pods that roll");
    expect(stdout).toMatch(/\n0 added, [1-9]\d* changed, 0 removed\n$/);
  });

  test("when the change is applied, the edge opens and there is no difference left", async ({ skip }) => {
    if (unavailable !== undefined) skip(unavailable);
    await plane.kubectlOk(["apply", "-f", join(cwd, "shop/catalog.yaml")]);
    await eventually("the edge opens", async () => ((await lattice("why", "cart", "catalog:http")).code === 0 ? true : undefined));
    expect(await lattice("diff", "-f", "shop")).toMatchObject({ code: 0, stdout: "no differences\n" });
  });

  test("deleting a policy closes the edge, whatever is declared", async ({ skip }) => {
    if (unavailable !== undefined) skip(unavailable);
    operator?.kill("SIGKILL");
    await plane.kubectlOk(["delete", "authorizationpolicy", "catalog", "-n", "shop"]);
    const { code, stdout } = await lattice("why", "cart", "catalog:http");
    expect(code).toBe(1);
    expect(stdout).toContain("L7  NO   passes shop/waypoint");
    expect((await lattice("diff", "-f", "shop")).stdout).toContain("  + AuthorizationPolicy shop/catalog\n");
  });

  test("without read access the commands report it and give no result", async ({ skip }) => {
    if (unavailable !== undefined) skip(unavailable);
    const stranger = join(cwd, "stranger");
    writeFileSync(stranger, plane.kubeconfigFor("stranger"), { mode: 0o600 });
    const { stderr } = await lattice("graph", "--kubeconfig", stranger);
    expect(stderr).toContain("warning: latticeservices.lattice.dev may not be read with these credentials, and are left out\n");
  });
});
