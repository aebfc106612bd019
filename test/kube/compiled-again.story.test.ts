/**
 * The output of `lattice compile`, applied twice by real kubectl, on the embedded API server and on a real one: pods that an autoscaler added in between
 * stay, and so does the selector that Flagger set on a canary's Service. test/stories/compiled-again.test.ts does the same without kubectl.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileAll } from "#compile";
import { reducedMeshCrds } from "#controllers";
import { formatYamlDocuments } from "#kube";
import { ServerProcess } from "../builders/api-server/server-process.ts";
import { serviceYaml, worldOf } from "../builders/world.ts";
import { eventually, realPlane, runProgram, sharedPlane, type RealPlane, type Ran } from "./harness/index.ts";

type Kubectl = (args: readonly string[], stdin?: string) => Promise<Ran>;

/** Both servers have both namespaces, one for each form of apply. */
function compiled(namespace: string): string {
  const { namespaces, objects } = compileAll(
    worldOf([
      serviceYaml(`${namespace}/web`, { calls: ["api"], spec: "  replicas: {min: 2, max: 9}\n" }),
      serviceYaml(`${namespace}/api`, { calledBy: ["web"], spec: "  deploy: {strategy: canary}\n" }),
    ]),
  );
  return formatYamlDocuments([...namespaces, ...objects]);
}

let home = "";
let server: ServerProcess | undefined;
let plane: RealPlane | undefined;
const servers = new Map<string, Kubectl>();

beforeAll(async () => {
  const own = await realPlane({ controllerManager: "absent" });
  plane = own;
  home = mkdtempSync(join(tmpdir(), "lattice-again-story-"));
  const kubeconfig = join(home, "kubeconfig");
  server = new ServerProcess(home, ["--kubeconfig-out", kubeconfig, "--no-controllers"]);
  if ((await server.url()) === undefined) throw new Error(`the server did not start: ${server.stderr}`);
  const kubectl = join(sharedPlane().binaries, "kubectl");
  const env = { PATH: process.env["PATH"], HOME: home, KUBECONFIG: kubeconfig };
  servers.set("embedded", (args, stdin) => runProgram(kubectl, [`--cache-dir=${join(home, "cache")}`, ...args], { env, stdin }));
  servers.set("real", (args, stdin) => own.kubectl(args, stdin === undefined ? {} : { stdin }));
  const crds = formatYamlDocuments(reducedMeshCrds());
  for (const [name, run] of servers) {
    expect(await run(["apply", "--server-side", "-f", "-"], crds), name).toMatchObject({ code: 0 });
    await eventually("the new kinds are served", async () =>
      (await run(["get", "canaries.flagger.app", "-A"])).code === 0 ? true : undefined,
    );
  }
});

afterAll(async () => {
  await server?.kill();
  await plane?.stop();
  rmSync(home, { recursive: true, force: true });
});

describe.each(["embedded", "real"])("on the %s API server", (name) => {
  test.each([
    { form: "kubectl apply --server-side", flags: ["--server-side"], namespace: "again-ssa" },
    { form: "kubectl apply", flags: [], namespace: "again-csa" },
  ])("compiled output applied twice with $form keeps the changes of the autoscaler and of Flagger", async ({ flags, namespace }) => {
    const run = servers.get(name) ?? (() => Promise.reject(new Error("not started")));
    const ok = async (args: readonly string[], stdin?: string) => {
      const ran = await run(args, stdin);
      expect(ran, args.join(" ")).toMatchObject({ code: 0 });
      return ran.stdout;
    };
    const apply = () => ok(["apply", ...flags, "-f", "-"], compiled(namespace));
    await apply();
    await ok(["scale", "-n", namespace, "deployment/web", "--replicas=7"]);
    await ok(["scale", "-n", namespace, "deployment/api", "--replicas=0"]);
    const selector = { "app.kubernetes.io/name": "api-primary" };
    const patch = JSON.stringify({ spec: { selector } });
    await ok(["patch", "-n", namespace, "service/api", "--type=merge", "--field-manager=flagger", "-p", patch]);
    await apply();
    const replicas = await ok([
      "get",
      "-n",
      namespace,
      "deployments",
      "-o",
      "jsonpath={range .items[*]}{.metadata.name}={.spec.replicas} {end}",
    ]);
    expect(replicas.trim().split(" ").toSorted()).toEqual(["api=0", "web=7"]);
    expect(JSON.parse(await ok(["get", "-n", namespace, "service/api", "-o", "jsonpath={.spec.selector}"]))).toEqual(selector);
  });
});
