/**
 * Unmodified kubectl against the embedded API server and against the real one: the same commands must have the same output.
 *
 * Values that differ between runs and machines (ages, uids, versions, addresses) are normalized first. Commands with known differences
 * state the reason.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeKinds } from "#crds";
import { parseYaml } from "#kube";
import { projectRoot } from "../../scripts/process/project.ts";
import { ServerProcess } from "../builders/api-server/server-process.ts";
import { eventually, realPlane, runProgram, sharedPlane, uniqueName, type RealPlane, type Ran } from "./harness/index.ts";

type Kubectl = (args: readonly string[], stdin?: string) => Promise<Ran>;

const NAMESPACE = uniqueName("embedded");
let home = "";
let server: ServerProcess | undefined;
let ours: Kubectl = () => Promise.reject(new Error("not started"));
// a separate plane: other stories define kinds, and `api-resources` would list them
let plane: RealPlane | undefined;
const real: Kubectl = (args, stdin) =>
  plane === undefined ? Promise.reject(new Error("not started")) : plane.kubectl(args, stdin === undefined ? {} : { stdin });

beforeAll(async () => {
  plane = await realPlane();
  home = mkdtempSync(join(tmpdir(), "lattice-embedded-"));
  const kubeconfig = join(home, "kubeconfig");
  server = new ServerProcess(home, ["--kubeconfig-out", kubeconfig]); // with TLS: kubectl sends no token over plain HTTP
  if ((await server.url()) === undefined) throw new Error(`the server did not start: ${server.stderr}`);
  const kubectl = join(sharedPlane().binaries, "kubectl");
  const env = { PATH: process.env["PATH"], HOME: home, KUBECONFIG: kubeconfig };
  ours = (args, stdin) => runProgram(kubectl, [`--cache-dir=${join(home, "cache")}`, ...args], { env, stdin });
  for (const [name, text] of FILES) writeFileSync(join(home, name), text);
});

afterAll(async () => {
  await server?.kill();
  await plane?.stop();
  rmSync(home, { recursive: true, force: true });
});

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: example.test/web:1
        ports: [{containerPort: 80, name: http}]
        env: [{name: A, value: "1"}, {name: B, value: "2"}]
        resources: {requests: {cpu: 100m, memory: 64Mi}}
      - name: side
        image: example.test/side:1
`;
const CHANGED = DEPLOYMENT.replace("web:1", "web:2").replace(', {name: B, value: "2"}', "");
const SERVICE = `apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: http}]
`;
const APPLIED = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {team: a}}
data: {colour: blue, size: "3"}
`;
const EMPTY = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: empty}\ndata: {}\n";
const FILES: readonly (readonly [string, string])[] = [
  ["deployment.yaml", DEPLOYMENT],
  ["changed.yaml", CHANGED],
  ["service.yaml", SERVICE],
  ["applied.yaml", APPLIED],
  ["recoloured.yaml", APPLIED.replace("blue", "red")],
];

type Command = {
  readonly args: readonly string[];
  readonly stdin?: string;
  /** Why the output of the embedded server may differ; then only the exit code is compared. */
  readonly differs?: string;
  /** Lines of stdout that are ignored on both sides, and why. */
  readonly without?: { readonly lines: RegExp; readonly why: string };
  /** Lines are compared in any order: Go iterates a map. */
  readonly unordered?: boolean;
};

const controllers = "the controllers of a real plane write status, events and revisions at any time";

/** Compares only kinds, fields, types and enums. */
const prose = {
  lines: /^(?!KIND|VERSION|GROUP|FIELD|.*\t<|.*enum:)/,
  why: "only the schemas of metadata have descriptions; all descriptions would double the size of the program",
};

/** In this order: each command depends on the commands before it. */
const COMMANDS: readonly Command[] = [
  { args: ["create", "namespace", NAMESPACE] },
  { args: ["create", "configmap", "plain", "--from-literal=a=1", "--from-literal=b=two"] },
  { args: ["create", "configmap", "plain"] },
  { args: ["create", "secret", "generic", "hidden", "--from-literal=password=geheim"] },
  { args: ["get", "configmap", "plain", "-o", "yaml"] },
  { args: ["get", "configmap", "plain", "-o", "json"] },
  { args: ["get", "configmap", "plain", "-o", "jsonpath={.data.a} {.kind} {.metadata.managedFields[*].manager}"] },
  { args: ["get", "configmap", "missing"] },
  { args: ["get", "nonsense"] },
  { args: ["get", "secret", "hidden"] },
  { args: ["describe", "configmap", "plain"] },
  { args: ["describe", "secret", "hidden"] },
  { args: ["apply", "-f", "deployment.yaml"] },
  { args: ["apply", "-f", "deployment.yaml"] },
  { args: ["get", "deployment", "web", "-o", "jsonpath={.spec}"] },
  { args: ["get", "deployment", "web", "-o", "wide"], differs: `${controllers}: UP-TO-DATE` },
  { args: ["get", "deployments,services", "-l", "app=web", "-o", "name"] },
  { args: ["diff", "-f", "changed.yaml"], without: { lines: /^(---|\+\+\+|diff ) |revision:|resourceVersion:|generation:|^@@/, why: controllers } },
  { args: ["apply", "-f", "changed.yaml"] },
  { args: ["get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[*].env[*].name} {.spec.template.spec.containers[0].image}"] },
  { args: ["diff", "-f", "changed.yaml"] },
  { args: ["apply", "-f", "service.yaml"] },
  { args: ["get", "service", "web"] },
  { args: ["get", "service", "web", "-o", "yaml"] },
  { args: ["describe", "service", "web"], without: { lines: /^(Events|Endpoints):/, why: controllers } },
  { args: ["apply", "--server-side", "-f", "applied.yaml"] },
  { args: ["apply", "--server-side", "--field-manager=other", "-f", "recoloured.yaml"] },
  { args: ["apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "recoloured.yaml"] },
  { args: ["get", "configmap", "settings", "-o", "yaml", "--show-managed-fields"] },
  { args: ["diff", "--server-side", "-f", "applied.yaml", "--force-conflicts"], without: { lines: /^(---|\+\+\+|diff ) /, why: "names of temporary folders" } },
  { args: ["apply", "--server-side", "--validate=false", "-f", "-"], stdin: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\nbinaryData: {a: 10.0.0.1}\n" },
  { args: ["apply", "--server-side", "--validate=false", "-f", "-"], stdin: SERVICE.replace("{name: web}", "{name: bad}").replace("targetPort: http", "targetPort: 4294967296") },
  { args: ["apply", "--server-side", "--validate=false", "-f", "-"], stdin: "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: bad}\nspec: {renewTime: 2020-}\n" },
  { args: ["apply", "--server-side", "-f", "-"], stdin: EMPTY },
  { args: ["apply", "--server-side", "--field-manager=other", "-f", "-"], stdin: EMPTY },
  { args: ["patch", "configmap", "plain", "--type=merge", "-p", '{"data":{"c":"3"}}'] },
  { args: ["patch", "configmap", "plain", "--type=merge", "-p", '{"data":{"c":"3"}}'] },
  { args: ["patch", "configmap", "plain", "--type=json", "-p", '[{"op":"remove","path":"/data/a"}]'] },
  { args: ["patch", "configmap", "plain", "--type=json", "-p", '[{"op":"test","path":"/data/b","value":"x"}]'] },
  { args: ["patch", "deployment", "web", "-p", '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"example.test/side:2"}]}}}}'] },
  { args: ["patch", "deployment", "web", "-p", '{"spec":{"replicas":"many"}}'] },
  { args: ["patch", "deployment", "web", "-p", '{"spec":{"selector":{"matchLabels":{"app":"other"}}}}'] },
  { args: ["label", "configmap", "plain", "team=b", "tier=back"] },
  { args: ["label", "configmap", "plain", "team=c"] },
  { args: ["label", "configmap", "plain", "team=c", "--overwrite"] },
  { args: ["label", "configmap", "plain", "tier-"] },
  { args: ["annotate", "configmap", "plain", "note=hello"] },
  { args: ["get", "configmaps", "-l", "team in (a,c)", "--show-labels"] },
  { args: ["get", "configmaps", "--field-selector=metadata.name=plain", "-o", "custom-columns=NAME:.metadata.name,TEAM:.metadata.labels.team"] },
  { args: ["scale", "deployment", "web", "--replicas=5"] },
  { args: ["scale", "deployment", "web", "--current-replicas=1", "--replicas=2"] },
  { args: ["get", "deployment", "web", "--subresource=scale", "-o", "jsonpath={.spec.replicas} {.status.selector}"] },
  { args: ["set", "image", "deployment/web", "web=example.test/web:3"] },
  { args: ["set", "env", "deployment/web", "C=4", "A-"] },
  { args: ["wait", "deployment/web", "--for=jsonpath={.spec.replicas}=5", "--timeout=5s"] },
  { args: ["wait", "deployment/web", "--for=jsonpath={.spec.replicas}=6", "--timeout=1s"] },
  { args: ["wait", "configmap/plain", "--for=create", "--timeout=5s"] },
  { args: ["create", "-f", "-", "--dry-run=server", "-o", "yaml"], stdin: APPLIED.replace("settings", "dry") },
  { args: ["create", "-f", "-"], stdin: APPLIED.replace("settings", "strict").replace("data:", "dataa:") },
  { args: ["create", "-f", "-", "--validate=warn"], stdin: APPLIED.replace("settings", "warned").replace("data:", "dataa:") },
  { args: ["replace", "-f", "-"], stdin: APPLIED.replace("blue", "green") },
  { args: ["create", "deployment", "BAD_NAME", "--image=i"] },
  { args: ["create", "-f", "-"], stdin: DEPLOYMENT.replace("name: web\n  labels", "name: broken\n  labels").replace("matchLabels: {app: web}", "matchLabels: {app: x}") },
  { args: ["create", "role", "reader", "--verb=get,list", "--resource=pods"] },
  { args: ["create", "quota", "limit", "--hard=pods=3"] },
  { args: ["create", "cronjob", "tick", "--image=i", "--schedule=*/5 * * * *"] },
  { args: ["create", "cronjob", "tock", "--image=i", "--schedule=whenever"] },
  { args: ["get", "cronjobs,roles"] },
  { args: ["get", "cronjobs,roles,secrets", "-o", "wide"] },
  { args: ["describe", "role", "reader"] },
  { args: ["explain", "deployment.spec.strategy"], without: prose },
  { args: ["explain", "pods", "--recursive"], without: prose },
  { args: ["explain", "configmap.nonsense"] },
  { args: ["api-resources", "--no-headers"], unordered: true },
  { args: ["api-resources", "--namespaced=false", "-o", "name"], unordered: true },
  { args: ["api-versions"] },
  { args: ["get", "--raw", "/version"], without: { lines: /"(git|build|goVersion|compiler|platform)/, why: "who built the server, and when" } },
  { args: ["delete", "configmap", "plain", "settings"] },
  { args: ["delete", "configmap", "plain"] },
  { args: ["delete", "configmap", "plain", "--ignore-not-found"] },
  { args: ["delete", "cronjobs", "--all"] },
  { args: ["delete", "deployment,service", "web", "--wait=false"] },
  { args: ["get", "all"], differs: `${controllers}; here they clean up` },
]; // prettier-ignore

describe("kubectl has the same output on the embedded server and on the real one", () => {
  test.each(COMMANDS.map((command) => ({ ...command, title: command.args.join(" ").replace(NAMESPACE, "NAMESPACE") })))(
    "kubectl $title",
    async (command) => {
      const at = (args: readonly string[]) => [
        `--namespace=${NAMESPACE}`,
        ...args.map((arg) => (arg.endsWith(".yaml") ? join(home, arg) : arg)),
      ];
      const [here, there] = await Promise.all([ours(at(command.args), command.stdin), real(at(command.args), command.stdin)]);
      if (command.differs === undefined) expect(shown(here, command)).toEqual(shown(there, command));
      else expect(here.code).toBe(there.code);
    },
  );

  test("a List may hold definitions with defaults, and a LatticeCluster: kubectl checks it with /openapi/v2", async () => {
    const list = (items: readonly unknown[]) => JSON.stringify({ apiVersion: "v1", kind: "List", items });
    const cluster = parseYaml(readFileSync(join(projectRoot, "examples/cluster.yaml"), "utf8"));
    for (const kubectl of [ours, real]) {
      const crds = await kubectl(["apply", "-f", "-"], list(latticeKinds.map((kind) => kind.crd())));
      expect(crds).toMatchObject({ code: 0, stderr: "" });
      const applied = await eventually("the kind is served", async () => {
        const ran = await kubectl(["apply", "-f", "-"], list(expectOk(cluster)));
        return ran.stderr.includes("ensure CRDs are installed first") ? undefined : ran;
      });
      expect(applied).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^latticecluster.* created$/m) });
    }
  });

  test("the embedded server logged no problem during all commands", () => {
    expect(server?.stderr).toBe("");
  });
});

const ONCE: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME"],
  [/(resourceVersion"?: ?)"\d+"/g, "$1VERSION"],
  [/\b10\.0\.0\.\d+\b */g, "ADDRESS "],
  [/\b\d+(s|m\d+s|ms)\b/g, "AGE"],
  [/lattice-embedded-[^/\s]+|LIVE-\d+|MERGED-\d+/g, "FOLDER"],
  [/ {2,}/g, "  "],
];

function shown({ code, stdout, stderr }: Ran, { without, unordered }: Command) {
  const lines = ONCE.reduce((text, [pattern, name]) => text.replaceAll(pattern, name), stdout).split("\n");
  const kept = lines.filter((line) => without === undefined || !without.lines.test(line));
  const complained = ONCE.reduce((text, [pattern, name]) => text.replaceAll(pattern, name), stderr);
  return { code, stdout: unordered === true ? kept.toSorted() : kept, stderr: complained.split("\n") };
}
