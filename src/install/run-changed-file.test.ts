/** A file that was changed after a first run: it is applied before the pivot, or refused, and never ignored. */
import { afterEach, expect, test } from "vitest";
import { base64OfText, expectOk } from "#base";
import { latticeClusters, type LatticeCluster } from "#crds";
import { namespaces, secrets, type Json, type KubeObject } from "#kube";
import type { ManagementFile } from "./management-file.ts";
import { runInstall, type InstallProgress } from "./run-install.ts";
import { cluster, World } from "./run-world.test-support.ts";

let world: World;
afterEach(() => world.close());

type Nodes = { readonly controlPlane: number; readonly workers: number };
type Change = {
  readonly nodes?: Nodes;
  readonly provider?: object;
  readonly networking?: object;
  readonly data?: Readonly<Record<string, string>>;
};

const PLACE = { apiVersion: "v1", kind: "Namespace", metadata: { name: "credentials" } };

function fileOf({ data, ...spec }: Change): ManagementFile {
  const own = cluster as unknown as LatticeCluster;
  const encoded = Object.fromEntries(Object.entries(data ?? {}).map(([key, text]) => [key, base64OfText(text)]));
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "cloud", namespace: "credentials" }, type: "Opaque", data: encoded };
  const beside =
    data === undefined
      ? []
      : [
          { resource: namespaces, object: PLACE },
          { resource: secrets, object: secret as KubeObject },
        ];
  return { cluster: { ...own, spec: { ...own.spec, ...spec } } as LatticeCluster, beside };
}

type Shown = { readonly details: readonly string[]; readonly notes: readonly string[] };

type RunOf = { /** The run is stopped when it waits for machines. */ readonly hangs?: boolean; readonly isHanging?: World["isHanging"] };

async function install(file: ManagementFile, { hangs = false, isHanging = () => hangs }: RunOf = {}) {
  world.isHanging = isHanging;
  const options = world.options();
  const shown = { details: [] as string[], notes: [] as string[] };
  const report = (progress: InstallProgress) => {
    options.report(progress);
    if (progress.kind === "step" && progress.detail !== undefined) shown.details.push(progress.detail);
    if (progress.kind === "note") shown.notes.push(progress.text);
    if (hangs && progress.kind === "wait" && progress.text === "Provisioning: machines exist") world.kill.abort();
  };
  const ended = await runInstall({ ...options, report, cluster: file.cluster, beside: file.beside, file });
  return { ended, shown: shown as Shown };
}

async function requested(): Promise<LatticeCluster> {
  const found = await world.bootstrap?.client.get(latticeClusters, { name: "prod" });
  if (found === undefined) throw new Error("there is no bootstrap cluster");
  return expectOk(found);
}

const stopped = { ok: false, error: { kind: "stopped" } };
const refusedWith = (text: RegExp) => ({ ok: false, error: { kind: "refused", message: expect.stringMatching(text) as string } });
const nodes = (workers: number): Nodes => ({ controlPlane: 1, workers });

test("a corrected file is applied while the machines are made, and what was changed is shown", async () => {
  world = new World();
  expect((await install(fileOf({ nodes: nodes(1) }), { hangs: true })).ended).toMatchObject(stopped);
  const { ended, shown } = await install(fileOf({ nodes: nodes(2) }), { isHanging: ({ spec }) => spec.nodes.workers === 1 });
  expectOk(ended);
  expect(shown.details).toEqual(["spec.nodes.workers: 1 -> 2"]);
  const own = await world.management?.client.get(latticeClusters, { name: "prod" });
  expect(own).toMatchObject({ ok: true, value: { spec: { nodes: nodes(2) } } });
});

test("what a person has edited in the bootstrap cluster counts, unless the file was changed in that field", async () => {
  world = new World();
  await install(fileOf({ nodes: nodes(1) }), { hangs: true });
  const patch = { spec: { nodes: { workers: 4, controlPlane: 3 } } };
  await world.bootstrap?.client.patch<KubeObject>(latticeClusters, { name: "prod" }, { type: "merge", patch });
  expect((await install(fileOf({ nodes: nodes(1) }), { hangs: true })).shown.details).toEqual([]);
  expect((await requested()).spec.nodes).toEqual({ workers: 4, controlPlane: 3 });
  await install(fileOf({ nodes: nodes(2) }), { hangs: true });
  expect((await requested()).spec.nodes).toEqual({ workers: 2, controlPlane: 3 });
});

test("a field that is removed from the file is removed in the bootstrap cluster", async () => {
  world = new World();
  const { provider } = fileOf({}).cluster.spec;
  await install(fileOf({ provider: { ...provider, kubernetes: { version: "1.36.3", certSANs: ["a.example"] } } }), { hangs: true });
  const { shown } = await install(fileOf({}), { hangs: true });
  expect(shown.details).toEqual(['spec.provider.kubernetes.certSANs: ["a.example"] -> absent']);
  expect((await requested()).spec.provider).toEqual(provider);
});

const IMPOSSIBLE: readonly { readonly name: string; readonly change: Change; readonly want: RegExp }[] = [
  {
    name: "another provider",
    change: { provider: { type: "docker", kubernetes: { version: "1.36.3" } } },
    want: /^the file was changed in what only a new cluster can have \(spec\.provider\.type: cannot be changed: .*\): undo that, or delete it$/,
  },
  {
    name: "another network of pods",
    change: { networking: { pods: { cidr: "10.9.0.0/16" } } },
    want: /\(spec\.networking\.pods: cannot be changed once machines are made\): undo that, or delete it$/,
  },
];

test.each(IMPOSSIBLE)("$name is refused by the name of the field, and nothing is written", async ({ change, want }) => {
  world = new World();
  await install(fileOf({ nodes: nodes(1) }), { hangs: true });
  const before = await requested();
  const { ended } = await install(fileOf({ nodes: nodes(2), ...change }), { hangs: true });
  expect(ended).toMatchObject(refusedWith(want));
  expect((await requested()).spec).toEqual(before.spec);
});

test("a corrected Secret is applied while the machines are made; one that a person has corrected there is left", async () => {
  world = new World();
  await install(fileOf({ data: { password: "wrong", old: "x" } }), { hangs: true });
  const { shown } = await install(fileOf({ data: { password: "right" } }), { hangs: true });
  expect(shown.details).toEqual(["Secret credentials/cloud"]);
  const client = world.bootstrap?.client;
  const key = { namespace: "credentials", name: "cloud" };
  expect(await client?.get(secrets, key)).toMatchObject({ value: { data: { password: base64OfText("right") } } });
  expect((await client?.get<KubeObject>(secrets, key))?.ok).toBe(true);
  const data: Json = { password: base64OfText("better") };
  await client?.patch<KubeObject>(secrets, key, { type: "merge", patch: { data } }, { fieldManager: "kubectl-edit" });
  const { ended, shown: after } = await install(fileOf({ data: { password: "right" } }), { hangs: true });
  expect(ended).toMatchObject(stopped);
  expect(after).toEqual({
    details: [],
    notes: [
      "Secret credentials/cloud was changed in the bootstrap cluster by kubectl-edit: it is left as it is there, and the file is not applied to it",
    ],
  });
  expect(await client?.get(secrets, key)).toMatchObject({ value: { data } });
});

test("a Secret of others with other data is refused before anything is created, and stays as it is", async () => {
  world = new World(true);
  world.bootstrap = await world.start();
  const { client } = world.bootstrap;
  const [place, secret] = fileOf({ data: { password: "theirs" } }).beside;
  expectOk(await client.create<KubeObject>(namespaces, place?.object as KubeObject));
  const theirs = expectOk(await client.create<KubeObject>(secrets, secret?.object as KubeObject, { fieldManager: "other" }));
  const { ended } = await install(fileOf({ data: { password: "mine" } }));
  expect(ended).toMatchObject(
    refusedWith(/^Secret credentials\/cloud exists in the bootstrap cluster, .* differs from the file \(data\.password\); /),
  );
  expect(await client.get<KubeObject>(secrets, { namespace: "credentials", name: "cloud" })).toEqual({ ok: true, value: theirs });
  expect(await client.get(latticeClusters, { name: "prod" })).toMatchObject({ error: { kind: "not-found" } });
  expectOk((await install(fileOf({ data: { password: "theirs" } }))).ended);
});

test("a Secret that the file has got since, and that others have as well, is refused while the machines are made", async () => {
  world = new World();
  await install(fileOf({}), { hangs: true });
  const [place, secret] = fileOf({ data: { password: "theirs" } }).beside;
  await world.bootstrap?.client.create<KubeObject>(namespaces, place?.object as KubeObject);
  await world.bootstrap?.client.create<KubeObject>(secrets, secret?.object as KubeObject);
  const { ended } = await install(fileOf({ data: { password: "mine" } }), { hangs: true });
  expect(ended).toMatchObject(
    refusedWith(/^Secret credentials\/cloud exists in the bootstrap cluster, was not written by this installation/),
  );
});

test("after the pivot, a file that differs is refused with the fields and the command to use; the installation is ended all the same", async () => {
  world = new World();
  expectOk((await install(fileOf({ nodes: nodes(1) }))).ended);
  expectOk((await install(fileOf({ nodes: nodes(1) }))).ended);
  const { ended } = await install(fileOf({ nodes: nodes(3) }));
  expect(ended).toMatchObject(
    refusedWith(
      /^prod is installed and owns itself, and the file differs from it \(spec\.nodes\.workers is 1, and 3 in the file\): its own LatticeCluster counts, .*kubectl edit, or correct the file$/,
    ),
  );
  expect(world.bootstrap).toBeUndefined();
});

test("a file that is changed while the objects are moved ends the installation, and is refused then", async () => {
  world = new World();
  const file = fileOf({ nodes: nodes(1) });
  const options = world.options();
  // killed after the pivot, before anything else
  const report = (progress: InstallProgress) => void (progress.kind === "step" && progress.step === "detach" && world.kill.abort());
  await runInstall({ ...options, report, cluster: file.cluster, beside: [], file });
  expect(world.bootstrap).toBeDefined();
  const { ended } = await install(fileOf({ nodes: nodes(5) }));
  expect(ended).toMatchObject(refusedWith(/spec\.nodes\.workers is 1, and 5 in the file/));
  expect(world.bootstrap).toBeUndefined();
});
