/** `lattice status`, and `-n` and `-A` of the commands that read a cluster, on the embedded cluster over HTTP. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "#base";
import { latticeKinds, latticeServices } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { runCli } from "../../test/builders/cli-io.ts";
import { calls, environment, externalService, isCalledBy, latticeService } from "../../test/builders/lattice-objects.ts";
import { textWidth } from "./terminal/text-width.ts";

type Reported = { readonly phase: string; readonly message: string; readonly workloads?: "True" | "False"; readonly reason?: string };

function reported(object: FixtureObject, { phase, message, workloads, reason = "Compiled" }: Reported, more: object = {}): FixtureObject {
  const time = "2026-01-01T00:00:00Z";
  const condition = (type: string, status: string) => ({ type, status, reason, message: "", lastTransitionTime: time });
  const conditions = [
    condition("Ready", phase === "Ready" ? "True" : "False"),
    ...(workloads === undefined ? [] : [condition("WorkloadsReady", workloads)]),
  ];
  return { ...object, status: { phase, message, conditions, ...more } };
}

const LONG = "template error in container 'main' variable 'OOPS': ${config.nope}: config has no 'nope'\nsecond line";
const READY = { phase: "Ready", message: "2 of 2 pods are ready", workloads: "True" } as const;

let cluster: EmbeddedCluster;
let cwd: string;
beforeAll(async () => {
  const crds = latticeKinds.map(({ crd }) => crd() as unknown as FixtureObject);
  cluster = await startEmbeddedCluster({ objects: crds, users: [{ name: "stranger" }] });
  await cluster.add(
    reported(environment("shop", { sourceNamespaces: ["default"] }), {
      phase: "Ready",
      message: "namespace shop is closed until both sides agree",
    }),
    reported(environment("lab"), { phase: "Ready", message: "namespace lab is closed until both sides agree" }),
    reported(latticeService("default/cart", { environment: "shop", resources: calls("catalog") }), READY, {
      closedDependencies: { catalog: "x" },
    }),
    reported(latticeService("default/catalog", { environment: "shop" }), { phase: "Failed", message: LONG, workloads: "True" }),
    latticeService("team/new"),
    reported(latticeService("team/web", { resources: isCalledBy("other") }), READY),
    reported(externalService("team/stripe", { endpoints: { api: "https://api.stripe.com" } }), {
      phase: "Ready",
      message: "open to its requesters",
    }),
  );
  cwd = mkdtempSync(join(tmpdir(), "lattice-status-"));
  const kubeconfig = await cluster.kubeconfig({ http: true });
  writeFileSync(join(cwd, "kubeconfig"), kubeconfig);
  writeFileSync(join(cwd, "team"), kubeconfig.replace(/(\n( *)cluster: )/, "\n$2namespace: team$1"));
  writeFileSync(join(cwd, "stranger"), await cluster.kubeconfig({ user: "stranger" }));
});
afterAll(async () => {
  await cluster.close();
  rmSync(cwd, { recursive: true });
});

const run = (argv: readonly string[], config = "kubeconfig", more: object = {}) =>
  runCli(argv, { cwd, clock: systemClock, env: { KUBECONFIG: join(cwd, config) }, ...more });

describe("lattice status", () => {
  test("shows services with one sentence each, and exits with 1 when some are not Ready", async () => {
    expect(await run(["status"])).toEqual({
      code: 1,
      stderr: "",
      stdout: [
        "KIND         NAME             PHASE   STATUS",
        "service      default/cart     Ready   2 of 2 pods are ready; may not call catalog (lattice why cart catalog)",
        "service      default/catalog  Failed  template error in container 'main' variable 'OOPS': ${config.nope}: config has no 'nope'",
        "environment  shop             Ready   namespace shop is closed until both sides agree",
        "2 of 3 Ready; all conditions: kubectl describe ls catalog -n default",
        "",
      ].join("\n"),
    });
  });

  test("exits with 0 when all are Ready", async () => {
    expect(await run(["status", "cart"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n1 of 1 Ready\n$/) as string });
  });

  test("in a namespace: resources that are declared or run there", async () => {
    const { stdout } = await run(["status", "-n", "shop"]);
    expect(stdout.match(/^[A-Za-z]+ +[\w/]+/gm)?.map((text) => text.replaceAll(/ +/g, " "))).toEqual([
      "KIND NAME",
      "service default/cart",
      "service default/catalog",
      "environment shop",
    ]);
  });

  test("the namespace of the kubeconfig's context is the default", async () => {
    const { stdout } = await run(["status"], "team");
    expect(stdout).toContain("service   team/new     -      no status yet; is the operator running?\n");
    expect(stdout).toContain("external  team/stripe  Ready  open to its requesters\n");
    expect(stdout).not.toContain("cart");
  });

  test("-A shows all namespaces", async () => {
    const { stdout } = await run(["status", "-A"]);
    expect(stdout).toMatch(/\n5 of 7 Ready; /);
  });

  test("fits a terminal of 80 columns and colours phases there", async () => {
    const { stdout } = await run(["status", "-A"], "kubeconfig", { terminal: { columns: () => 80 } });
    expect(stdout).toContain("\u001b[32mReady\u001b[39m");
    expect(stdout).toContain("\u001b[31mFailed\u001b[39m");
    // oxlint-disable-next-line no-control-regex -- colours
    const lines = stdout.replaceAll(/\u001b\[[0-9]+m/g, "").split("\n");
    expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(80);
    expect(lines.map((line) => line.trim()).join(" ")).toContain("config has no 'nope'");
  });

  test("-o wide shows conditions, and wraps nothing", async () => {
    const { stdout } = await run(["status", "cart", "-o", "wide"], "kubeconfig", {
      terminal: { columns: () => 80 },
      env: { KUBECONFIG: join(cwd, "kubeconfig"), NO_COLOR: "1" },
    });
    expect(stdout.split("\n").slice(0, 2)).toEqual([
      "KIND     NAME          PHASE  TEMPLATES  CONFIG  PODS  POLICIES  STATUS",
      "service  default/cart  Ready                     yes             2 of 2 pods are ready; may not call catalog (lattice why cart catalog)",
    ]);
  });

  test("-o json and -o yaml are one document with the same exit code", async () => {
    const { code, stdout } = await run(["status", "-o", "json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ready: 2,
      total: 3,
      items: [
        { kind: "LatticeService", namespace: "default", name: "cart", phase: "Ready", ready: true, closedDependencies: ["catalog"] },
        { kind: "LatticeService", namespace: "default", name: "catalog", phase: "Failed", ready: false },
        { kind: "LatticeEnvironment", name: "shop" },
      ],
    });
    expect((await run(["status", "-o", "yaml"])).stdout).toMatch(/^ready: 2\ntotal: 3\nitems:\n/);
  });

  test.each([
    { name: "a missing service", argv: ["status", "crt"], want: 'there is no crt in namespace default; did you mean "cart"?' },
    { name: "an invalid namespace", argv: ["status", "-n", "A_B"], want: "--namespace: " },
    { name: "a format that --watch does not have", argv: ["status", "-w", "-o", "json"], want: "--watch prints lines" },
  ])("$name is exit code 2", async ({ argv, want }) => {
    expect(await run(argv)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(want) as string });
  });

  test("without permission to read services it prints an error and exits with 2", async () => {
    expect(await run(["status"], "stranger")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("forbidden") as string,
    });
    expect(await run(["status", "-A"], "stranger")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("name one with -n") as string,
    });
  });

  test("a cluster without Lattice, or none at all, is exit code 2", async () => {
    const bare = await startEmbeddedCluster();
    writeFileSync(join(cwd, "bare"), await bare.kubeconfig({ http: true }));
    expect(await run(["status"], "bare")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("lattice crds | kubectl apply") as string,
    });
    await bare.close();
    expect(await run(["status"], "bare")).toMatchObject({ code: 2, stdout: "" });
    expect(await run(["status"], "nowhere")).toMatchObject({ code: 2, stdout: "" });
  });

  test("a namespace without services names -A", async () => {
    expect(await run(["status", "-n", "empty"])).toEqual({
      code: 0,
      stdout: "",
      stderr: "no services in namespace empty; -A shows all namespaces\n",
    });
  });

  test("--watch shows the current state and every change, until it is stopped", async () => {
    const stop = new AbortController();
    let changed = false;
    const onOutput = (text: string) => {
      if (text.includes("default/cart") && !changed) {
        changed = true;
        const status = { phase: "Pending", message: "1 of 2 pods is ready" };
        void cluster.client.patch(
          latticeServices,
          { namespace: "default", name: "cart" },
          { type: "merge", patch: { status } as never },
          { subresource: "status" },
        );
      }
      if (text.includes("1 of 2 pods is ready")) stop.abort();
    };
    const { code, stdout } = await run(["status", "cart", "--watch"], "kubeconfig", { signal: stop.signal, onOutput });
    expect(code).toBe(0);
    expect(stdout).toMatch(/service +default\/cart +Ready +2 of 2 pods are ready.*\n[^]*default\/cart +Pending +1 of 2 pods is ready/);
    expect(stdout).not.toContain("catalog  ");
    expect(await run(["status", "nothing", "-w"])).toMatchObject({ code: 2 });
  });
});

describe("-n and -A, as in kubectl", () => {
  test("graph shows the namespace of the context, another with -n, all with -A", async () => {
    expect((await run(["graph"])).stdout).toBe("shop/cart  ->  shop/catalog  closed: only the caller declares it\n");
    expect((await run(["graph", "-n", "team"])).stdout).toContain("team/web");
    expect((await run(["graph", "-n", "empty"])).stdout).toBe("no edges are declared in namespace empty; -A shows all namespaces\n");
    const { edges } = JSON.parse((await run(["graph", "-A", "-o", "json"])).stdout) as { edges: readonly unknown[] };
    expect(edges).toHaveLength(2);
  });

  test("why finds a name without namespace where it is declared or runs, and with -n only there", async () => {
    for (const flags of [[], ["-n", "default"], ["-n", "shop"], ["-A"]]) {
      expect(await run(["why", "cart", "catalog", ...flags, "-o", "json"])).toMatchObject({
        code: 1,
        stderr: expect.not.stringContaining("there is no") as string,
      });
    }
    expect(await run(["why", "cart", "catalog", "-n", "team"])).toMatchObject({
      code: 2,
      stderr: "lattice: there is no service cart in namespace team; there is shop/cart\n",
    });
  });

  test("with files, -n is the namespace of resources that name none, and another one is an error", async () => {
    writeFileSync(join(cwd, "bare.yaml"), JSON.stringify({ ...latticeService("x/plain"), metadata: { name: "plain" } }));
    writeFileSync(join(cwd, "named.yaml"), JSON.stringify(latticeService("other/named")));
    expect((await run(["compile", "-f", "bare.yaml", "-n", "mine", "--workloads-only"])).stdout).toContain("namespace: mine\n");
    expect(await run(["compile", "-f", "bare.yaml", "named.yaml", "-n", "mine"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("metadata.namespace: is other, and -n is mine; leave out -n, or pass -n other") as string,
    });
    expect(await run(["graph", "-f", "bare.yaml", "-A"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("-A is for a cluster") as string,
    });
  });
});
