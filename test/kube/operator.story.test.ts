/**
 * The operator on a real API server, as two processes with its ServiceAccount and the shipped roles: the roles are sufficient, the status is
 * written, and a standby takes over when the leader is killed.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reducedMeshCrds } from "#controllers";
import { formatYamlDocuments } from "#kube";
import { OPERATOR_NAME, operatorRbac } from "#operator";
import { eventually, installLatticeCrds, sharedPlane, uniqueName, type PlaneAccess } from "./harness/index.ts";

const project = fileURLToPath(new URL("../..", import.meta.url));
/** The story has its own Lease: an operator of another story must not lead here. */
const namespace = uniqueName("operator");

type Process = { readonly child: ChildProcess; readonly healthUrl: string; output(): string };

let plane: PlaneAccess;
let folder: string;
const started: ChildProcess[] = [];

beforeAll(async () => {
  plane = sharedPlane();
  folder = mkdtempSync(join(tmpdir(), "lattice-operator-story-"));
  await installLatticeCrds(plane);
  await plane.kubectlOk(["apply", "--server-side", "-f", "-"], { stdin: formatYamlDocuments(operatorRbac(namespace)) });
  const user = `system:serviceaccount:${namespace}:${OPERATOR_NAME}`;
  writeFileSync(join(folder, "kubeconfig"), plane.kubeconfigFor(user, ["system:serviceaccounts"]), { mode: 0o600 });
});

afterAll(() => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function startOperator(): Promise<Process> {
  const flags = ["--kubeconfig", join(folder, "kubeconfig"), "--namespace", namespace, "--log-format", "json"];
  const child = spawn(process.execPath, [join(project, "src/bin/lattice.ts"), "operator", ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const healthUrl = await eventually("the operator prints its health URL", async () =>
    Promise.resolve(/http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0]),
  );
  return { child, healthUrl, output: () => output };
}

const leads = async ({ healthUrl }: Process) => /^lattice_leader 1$/m.test(await (await fetch(`${healthUrl}/metrics`)).text());

const registry = (name: string, host: string) => ({
  stdin: JSON.stringify({ apiVersion: "lattice.dev/v1alpha1", kind: "LatticeImageRegistry", metadata: { name }, spec: { host } }),
});

async function verdictOn(name: string): Promise<string | undefined> {
  const status = await plane.kubectlOk([
    "get",
    "lir",
    name,
    "-o",
    'jsonpath={.status.conditions[?(@.type=="Accepted")].status}/{.status.observedGeneration}',
  ]);
  return status === "/" ? undefined : status;
}

describe("the operator", () => {
  test("reports the missing kinds on a cluster without Lattice's CRDs, and exits", async () => {
    const empty = join(folder, "empty");
    writeFileSync(empty, plane.kubeconfigText.replaceAll(plane.url, `${plane.url}/nowhere`), { mode: 0o600 });
    const ran = spawn(process.execPath, [join(project, "src/bin/lattice.ts"), "operator", "--kubeconfig", empty]);
    let complaint = "";
    ran.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
    const code = await new Promise((resolve) => ran.on("exit", resolve));
    expect(code).toBe(2);
    expect(complaint).toContain("lattice crds | kubectl apply --server-side -f -");
  });

  test("with the shipped roles, one of two leads and writes status, and the other takes over when it is killed", async () => {
    const processes = [await startOperator(), await startOperator()] as const;
    const leader = await eventually("one of them leads", async () => {
      for (const candidate of processes) if (await leads(candidate)) return candidate;
      return undefined;
    });
    const standby = processes[0] === leader ? processes[1] : processes[0];
    expect(await leads(standby)).toBe(false);
    await eventually("the standby is ready too", async () => (await fetch(`${standby.healthUrl}/readyz`)).ok || undefined);

    const name = uniqueName("registry");
    await plane.kubectlOk(["apply", "-f", "-"], registry(name, "registry.example.com"));
    expect(await eventually("the leader accepts it", () => verdictOn(name))).toBe("True/1");

    await eventually("an event reports it", async () => {
      const names = await plane.kubectlOk(["get", "events", "-A", "-o", "jsonpath={.items[*].involvedObject.name}"]);
      return names.split(" ").includes(name) || undefined;
    });

    leader.child.kill("SIGKILL");
    await plane.kubectlOk(["apply", "-f", "-"], registry(name, "other.example.com"));
    await eventually(
      "the standby takes over and observes the change",
      async () => ((await verdictOn(name)) === "True/2" ? true : undefined),
      {
        withinMs: 40_000,
      },
    );
    expect(await leads(standby)).toBe(true);

    for (const each of processes) expect(each.output()).not.toMatch(/forbidden/i);
  });

  test("with the shipped roles, a service is compiled to its objects, reports missing kinds, and gets its policies when they are installed", async () => {
    const operator = await startOperator();
    const shop = uniqueName("shop");
    const apply = (...objects: readonly object[]) =>
      plane.kubectlOk(["apply", "--server-side", "--force-conflicts", "-f", "-"], { stdin: formatYamlDocuments(objects) });
    const read = (what: string, path: string) => plane.kubectlOk(["get", ...what.split(" "), "-n", shop, "-o", `jsonpath={${path}}`]);
    const condition = (type: string) => read("ls api", `.status.conditions[?(@.type=="${type}")].reason`);
    const lattice = { apiVersion: "lattice.dev/v1alpha1" };
    const variables = { NAME: "${metadata.name}", PASSWORD: "${resources.db.password}" };
    await apply(
      { apiVersion: "v1", kind: "Namespace", metadata: { name: shop } },
      { apiVersion: "v1", kind: "Secret", metadata: { name: "postgres-db", namespace: shop }, data: { password: btoa("hunter2") } },
      { ...lattice, kind: "LatticeEnvironment", metadata: { name: shop }, spec: { isolation: { quota: { pods: 20 } } } },
      {
        ...lattice,
        kind: "LatticeService",
        metadata: { name: "api", namespace: shop },
        spec: {
          environment: shop,
          containers: { main: { image: "registry.example.com/api:1", variables } },
          resources: { db: { type: "postgres" } },
          service: { ports: { http: { port: 8080 } } },
          replicas: { min: 2, max: 4 },
        },
      },
    );
    await eventually(
      "its condition reports the missing kinds",
      async () => ((await condition("PoliciesApplied")) === "CRDsMissing" ? true : undefined),
      {
        withinMs: 40_000,
      },
    );
    expect(await read("resourcequota lattice-isolation", ".spec.hard.pods")).toBe("20");
    // nothing would enforce its policies
    expect(await read("deployments", ".items[*].metadata.name")).toBe("");

    await apply(...reducedMeshCrds());
    await eventually("the policies follow", async () => ((await condition("PoliciesApplied")) === "Applied" ? true : undefined), {
      withinMs: 60_000,
    });
    await eventually("its workload follows", async () => ((await condition("Ready")) === "RollingOut" ? true : undefined));
    // there are no nodes: the story acts as the kubelet
    const early = await plane.kubectl(["wait", "--for=condition=Ready", "ls/api", "-n", shop, "--timeout=2s"]);
    expect(early.code).not.toBe(0);
    const pods = await eventually("its pods are created", async () => {
      const names = (await read("pods", ".items[*].metadata.name")).split(" ");
      return names.length === 2 ? names : undefined;
    });
    const running = { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };
    for (const name of pods)
      await plane.kubectlOk(["patch", "pod", name, "-n", shop, "--subresource=status", "--type=merge", "-p", JSON.stringify(running)]);
    await plane.kubectlOk(["wait", "--for=condition=Ready", "ls/api", "-n", shop, "--timeout=30s"]);
    expect(await read("configmap api-env", ".data.NAME")).toBe("api");
    expect(await read("secret api-secrets", ".data.PASSWORD")).toBe(btoa("hunter2"));
    expect(await read("deployment api", ".spec.replicas")).toBe("2");
    // as an autoscaler does: the number of replicas is not reverted
    await plane.kubectlOk(["scale", "deployment", "api", "-n", shop, "--replicas=3"]);
    expect(await read("ciliumnetworkpolicies.cilium.io lattice-default-deny", ".spec")).toBe(
      '{"egress":[{}],"endpointSelector":{},"ingress":[{}]}',
    );
    // additions of another client to the default deny policies are removed
    const add = (kind: string, patch: object) =>
      plane.kubectlOk(["patch", kind, "lattice-default-deny", "-n", shop, "--type=merge", "-p", JSON.stringify(patch)]);
    await add("authorizationpolicies.security.istio.io", {
      metadata: { annotations: { "istio.io/dry-run": "true" } },
      spec: { rules: [{}] },
    });
    await add("ciliumnetworkpolicies.cilium.io", { spec: { enableDefaultDeny: { ingress: false } } });
    await plane.kubectlOk(["label", "namespace", shop, "--overwrite", "istio.io/dataplane-mode=none"]);
    await eventually("the objects are restored", async () => {
      const found = [
        await read("authorizationpolicies.security.istio.io lattice-default-deny", ".spec"),
        await read("authorizationpolicies.security.istio.io lattice-default-deny", ".metadata.annotations.istio\\.io/dry-run"),
        await read("ciliumnetworkpolicies.cilium.io lattice-default-deny", ".spec.enableDefaultDeny"),
        await read(`namespace ${shop}`, ".metadata.labels.istio\\.io/dataplane-mode"),
      ];
      return found.join() === "{},,,ambient" || undefined;
    });
    await plane.kubectlOk(["patch", "ls", "api", "-n", shop, "--type=merge", "-p", '{"spec":{"replicas":{"max":5}}}']);
    await eventually("a change is applied", async () => ((await read("hpa api", ".spec.maxReplicas")) === "5" ? true : undefined));
    expect(await read("deployment api", ".spec.replicas")).toBe("3");

    await plane.kubectlOk(["delete", "ls", "api", "-n", shop, "--wait=true"]);
    await eventually(
      "its objects are deleted",
      async () =>
        (await read("deployments,configmaps,ciliumnetworkpolicies.cilium.io -l app.kubernetes.io/name=api", ".items[*].metadata.name")) ===
        ""
          ? true
          : undefined,
      { withinMs: 60_000 },
    );
    expect(operator.output()).not.toMatch(/forbidden/i);
    expect(operator.output()).not.toContain("hunter2");
    operator.child.kill("SIGTERM");
  });

  test("stops gracefully on SIGTERM and releases the lease", async () => {
    const operator = await startOperator();
    await eventually("the lease has a holder", async () => (await holder()) !== "" || undefined);
    for (const child of started) child.kill("SIGTERM");
    await eventually("it has ended", async () => Promise.resolve(operator.child.exitCode ?? undefined));
    expect(operator.child.exitCode).toBe(0);
    await eventually("the lease is free", async () => (await holder()) === "" || undefined);
  });
});

async function holder(): Promise<string> {
  return plane.kubectlOk(["get", "lease", OPERATOR_NAME, "-n", namespace, "-o", "jsonpath={.spec.holderIdentity}"]);
}
