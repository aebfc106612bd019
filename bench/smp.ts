/**
 * Strategic merge patch, text to text. Where Go and the peer's sources are available, Kubernetes' own library runs on the same inputs in the
 * same run, and the ratio is how many times faster this is. Elsewhere the ratio is the share that JSON.parse and JSON.stringify have.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import {
  applyStrategicMergePatchText,
  builtinSchema,
  createThreeWayStrategicPatchText,
  createTwoWayStrategicPatchText,
  type PatchSchema,
} from "#patch";

type Row = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly ratio: number;
  readonly against: string;
  readonly note?: string;
};
type Work = {
  readonly name: string;
  readonly goName: string;
  readonly texts: readonly string[];
  readonly run: () => { readonly ok: boolean };
};

const ANCHORS = new URL("../../shared/anchors/smp/", import.meta.url);

export async function run(): Promise<readonly Row[]> {
  const works = allWorks();
  const peer = measureGo();
  return works.map((work) => {
    if (!work.run().ok) throw new Error(`${work.name} failed`);
    const micros = best(work.run);
    const go = peer.get(work.goName);
    if (go !== undefined) return row(work.name, micros, go / micros, "Go apimachinery 0.36", `Go ${go.toFixed(0)} µs`);
    const plain = best(() => work.texts.map((text) => JSON.stringify(JSON.parse(text))));
    return row(work.name, micros, plain / micros, "JSON.parse + JSON.stringify", "Go or the peer's sources are not available");
  });
}

function row(name: string, micros: number, ratio: number, against: string, note: string): Row {
  return { name, value: Number(micros.toFixed(1)), unit: "µs CPU", ratio: Number(ratio.toFixed(2)), against, note };
}

function allWorks(): readonly Work[] {
  const deployment = schemaOf("apps", "Deployment");
  const pod = schemaOf("", "Pod");
  return [
    applyWork("deploy", "deploy", "deploy.patch", deployment),
    applyWork("pod", "pod", "pod.patch", pod),
    applyWork("podAll", "pod", "pod.patchall", pod),
    ...[diffWorks("deploy", deployment), diffWorks("pod", pod)].flat(),
  ];
}

function schemaOf(group: string, kind: string): PatchSchema {
  const schema = builtinSchema({ group, version: "v1", kind });
  if (schema === undefined) throw new Error(`no schema for ${kind}`);
  return schema;
}

function applyWork(name: string, object: string, patchName: string, schema: PatchSchema): Work {
  const [original, patch] = [input(`${object}.original`), input(patchName)];
  const apply = (): { readonly ok: boolean } => applyStrategicMergePatchText(original, patch, schema);
  return { name: `smp apply ${name}`, goName: `Apply/${name}`, texts: [original, patch], run: apply };
}

function diffWorks(name: string, schema: PatchSchema): readonly Work[] {
  const [original, modified, current] = [input(`${name}.original`), input(`${name}.modified`), input(`${name}.current`)];
  const twoWay = (): { readonly ok: boolean } => createTwoWayStrategicPatchText(original, modified, schema);
  const threeWay = (): { readonly ok: boolean } =>
    createThreeWayStrategicPatchText({ original, modified, current }, schema, { overwrite: true });
  return [
    { name: `smp two-way ${name}`, goName: `TwoWay/${name}`, texts: [original, modified], run: twoWay },
    { name: `smp three-way ${name}`, goName: `ThreeWay/${name}`, texts: [original, modified, current], run: threeWay },
  ];
}

/** The best of several rounds, in microseconds of CPU: on a shared machine everything else is noise. */
function best(work: () => unknown): number {
  for (const end = performance.now() + 300; performance.now() < end;) work();
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 9; round++) {
    const [start, before] = [performance.now(), process.cpuUsage()];
    let count = 0;
    for (; performance.now() - start < 80; count++) work();
    const used = process.cpuUsage(before);
    fastest = Math.min(fastest, (used.user + used.system) / count);
  }
  return fastest;
}

/** Microseconds of CPU by benchmark name; empty where the peer cannot run. */
function measureGo(): ReadonlyMap<string, number> {
  if (!existsSync(ANCHORS)) return new Map();
  try {
    const args = ["test", "-run", "XXX", "-bench", "^Benchmark(Apply|TwoWay|ThreeWay)$", "-benchtime", "300ms", "-count", "3"];
    const output = execFileSync("go", args, { cwd: ANCHORS, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const found = new Map<string, number>();
    for (const [, name = "", nanos] of output.matchAll(/^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+[\d.]+ ns\/op\s+(\d+) cpu-ns\/op/gm)) {
      found.set(name, Math.min(found.get(name) ?? Number.POSITIVE_INFINITY, Number(nanos) / 1_000));
    }
    return found;
  } catch {
    console.log("smp: Go is not here or cannot run the peer; measuring against JSON alone");
    return new Map();
  }
}

/** The anchor's own input, or one of the same shape and size. */
function input(name: string): string {
  const file = new URL(`inputs/${name}.json`, ANCHORS);
  return existsSync(file) ? readFileSync(file, "utf8") : JSON.stringify(madeInput(name));
}

function madeInput(name: string): unknown {
  const isPod = name.startsWith("pod");
  const names = isPod ? Array.from({ length: 20 }, (_, index) => `c${index}`) : ["app", "sidecar"];
  const wrap = (spec: object): object => (isPod ? { spec } : { spec: { template: { spec } } });
  const changed = (container: string) => ({
    name: container,
    image: `images.example/${container}:2`,
    env: [{ name: "ADDED", value: "yes" }],
  });
  if (name.endsWith(".patchall")) return wrap({ containers: names.map(changed) });
  const target = isPod ? "c10" : "app";
  if (name.endsWith(".patch")) return wrap({ containers: [changed(target)] });
  const containers = names.map((container) => madeContainer(container, isPod ? 20 : 10));
  const modified = containers.map((made) => (made.name === target ? { ...made, image: "images.example/new:2" } : made));
  const metadata = { name: "web", namespace: "default", labels: { app: "web" } };
  if (name.endsWith(".current")) return { metadata: { ...metadata, uid: "1", generation: 2 }, ...wrap({ containers }), status: {} };
  return { metadata, ...wrap({ containers: name.endsWith(".modified") ? modified : containers }) };
}

function madeContainer(name: string, variables: number) {
  return {
    name,
    image: `images.example/${name}:1.0.0`,
    args: ["--log-level=info", "--port=8080"],
    ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
    env: Array.from({ length: variables }, (_, index) => ({ name: `${name}_${index}`, value: `value-${index}` })),
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "500m", memory: "512Mi" } },
    volumeMounts: [{ name: "config", mountPath: "/etc/app", readOnly: true }],
    livenessProbe: { httpGet: { path: "/healthz", port: 8080 }, periodSeconds: 10, failureThreshold: 3 },
    readinessProbe: { httpGet: { path: "/ready", port: 8080 }, periodSeconds: 10, failureThreshold: 3 },
  };
}
