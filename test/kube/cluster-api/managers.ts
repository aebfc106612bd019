/**
 * The real managers of Cluster API (core, kubeadm bootstrap, kubeadm control plane, and the infrastructure for tests with its in-memory backend)
 * as processes, on any API server that a kubeconfig reaches.
 */
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectOk, reveal } from "#base";
import { fieldAt, formatYamlDocuments, parseJson, type KubeObject } from "#kube";
import { createCertificateAuthority, issueCertificate } from "#pki";
import { writePrivateFile } from "#pki";
import { CAPD_VERSION, CAPI_VERSION, type CapiBinaryName } from "../../../scripts/kube/versions.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { eventually } from "../harness/eventually.ts";
import { ProcessGroup } from "../harness/process-group.ts";
import { runProgram, type Ran } from "../harness/run-program.ts";
import { capiComponents, type CapiProvider } from "./components.ts";

export type Manager = CapiProvider & { readonly binary: CapiBinaryName; readonly module: "capi" | "capd"; readonly kustomization: string };

const CORE = { version: CAPI_VERSION, module: "capi" } as const;
export const MANAGERS: readonly Manager[] = [
  {
    ...CORE,
    binary: "capi-core",
    name: "cluster-api",
    type: "CoreProvider",
    namespace: "capi-system",
    kustomization: "core/config/default",
  },
  {
    ...CORE,
    binary: "capi-bootstrap-kubeadm",
    name: "bootstrap-kubeadm",
    type: "BootstrapProvider",
    namespace: "capi-kubeadm-bootstrap-system",
    kustomization: "bootstrap/kubeadm/config/default",
  },
  {
    ...CORE,
    binary: "capi-controlplane-kubeadm",
    name: "control-plane-kubeadm",
    type: "ControlPlaneProvider",
    namespace: "capi-kubeadm-control-plane-system",
    kustomization: "controlplane/kubeadm/config/default",
  },
  {
    binary: "capd",
    name: "infrastructure-docker",
    type: "InfrastructureProvider",
    version: CAPD_VERSION,
    module: "capd",
    namespace: "capd-system",
    kustomization: "infrastructure/docker/config/default",
  },
];
const MODULES = { capi: `sigs.k8s.io/cluster-api@v${CAPI_VERSION}`, capd: `sigs.k8s.io/cluster-api/test@v${CAPD_VERSION}` } as const;
export const INVENTORY_CRD = "cmd/clusterctl/config/manifest/clusterctl-api.yaml";
const HOUR_MS = 3_600_000;
const READY_MS = 120_000;
const FETCH_MS = 300_000;

export type CapiServer = {
  readonly kubeconfig: string;
  /** With that kubeconfig. */
  readonly kubectl: (args: readonly string[], options?: { readonly stdin?: string; readonly limitMs?: number }) => Promise<Ran>;
};

export type CapiManagers = { readonly folder: string; readonly close: () => Promise<void> };

/** Installs the components and starts the managers; resolves when all are ready. `binaries`: their folder. */
export async function startCapiManagers(server: CapiServer, binaries: string): Promise<CapiManagers> {
  const folder = join(mkdtempSync(join(tmpdir(), "lattice-capi-")), "run");
  const group = expectOk(await ProcessGroup.open(folder));
  const [certificates, authority] = webhookCertificates(folder);
  const inMemoryPort = expectOk(await findFreePorts(1))[0] ?? 0;
  const crd = await moduleFile("capi", INVENTORY_CRD);
  await apply(server, ["-f", crd]);
  const started: { readonly manager: Manager; readonly health: number }[] = [];
  for (const manager of MANAGERS) {
    const [webhook = 0, health = 0, diagnostics = 0] = expectOk(await findFreePorts(3));
    const kustomized = await server.kubectl(["kustomize", await moduleFile(manager.module, manager.kustomization)]);
    if (kustomized.code !== 0) throw new Error(`the components of ${manager.name} cannot be rendered: ${kustomized.stderr}`);
    await applyObjects(server, capiComponents(kustomized.stdout, manager, { port: webhook, caPem: authority }));
    const settings = [
      `POD_NAMESPACE=${manager.namespace}`,
      `POD_NAME=${manager.binary}`,
      "POD_IP=127.0.0.1",
      `INMEMORY_MIN_PORT=${inMemoryPort + 1}`,
      "DOCKER_HOST=unix:///nonexistent.sock",
    ];
    const flags = [
      `--kubeconfig=${server.kubeconfig}`,
      `--webhook-port=${webhook}`,
      `--webhook-cert-dir=${certificates}`,
      `--health-addr=127.0.0.1:${health}`,
      `--diagnostics-address=127.0.0.1:${diagnostics}`,
      "--insecure-diagnostics=true",
    ];
    const log = join(folder, `${manager.binary}.log`);
    await group.start({ name: manager.binary, path: "/usr/bin/env", args: [...settings, join(binaries, manager.binary), ...flags], log });
    started.push({ manager, health });
  }
  for (const { manager, health } of started) {
    await eventually(`${manager.binary} is ready`, async () => (await fetch(`http://127.0.0.1:${health}/readyz`)).ok || undefined, {
      withinMs: READY_MS,
    });
  }
  return { folder, close: () => group.close() };
}

/** The folder of tls.crt and tls.key, and the authority. */
function webhookCertificates(folder: string): readonly [string, string] {
  const [notBefore, notAfter] = [new Date(Date.now() - HOUR_MS), new Date(Date.now() + 24 * HOUR_MS)];
  const authority = expectOk(createCertificateAuthority({ commonName: "lattice-test-capi", notBefore, notAfter }));
  const issued = expectOk(
    issueCertificate(authority, { commonName: "webhooks", usages: ["server"], ipAddresses: ["127.0.0.1"], notBefore, notAfter }),
  );
  const certificates = join(folder, "certificates");
  mkdirSync(certificates, { recursive: true, mode: 0o700 });
  expectOk(writePrivateFile(join(certificates, "tls.crt"), issued.certificate));
  expectOk(writePrivateFile(join(certificates, "tls.key"), reveal(issued.key)));
  return [certificates, authority.certificate];
}

export async function moduleFile(module: keyof typeof MODULES, path: string): Promise<string> {
  const env = { ...process.env, GOWORK: "off", GOFLAGS: "" };
  const ran = await runProgram("go", ["mod", "download", "-json", MODULES[module]], { cwd: tmpdir(), env, limitMs: FETCH_MS });
  const answer = parseJson(ran.stdout);
  const folder = answer.ok ? fieldAt(answer.value, "Dir") : undefined;
  if (typeof folder !== "string") throw new Error(`${MODULES[module]} cannot be fetched: ${ran.stderr}`);
  return join(folder, path);
}

/** In pieces: webhooks of one provider apply to objects of the next, so namespaces and CRDs must be served first. */
async function applyObjects(server: CapiServer, objects: readonly KubeObject[]): Promise<void> {
  const isFirst = ({ kind }: KubeObject) => kind === "Namespace" || kind === "CustomResourceDefinition";
  const crds = objects.filter(({ kind }) => kind === "CustomResourceDefinition").map(({ metadata: { name } }) => `crd/${name}`);
  await apply(server, ["-f", "-"], formatYamlDocuments(objects.filter(isFirst)));
  if (crds.length > 0) await succeed(server, ["wait", "--for=condition=Established", "--timeout=60s", ...crds]);
  await apply(server, ["-f", "-"], formatYamlDocuments(objects.filter((object) => !isFirst(object))));
}

async function apply(server: CapiServer, args: readonly string[], stdin?: string): Promise<void> {
  await succeed(server, ["apply", "--server-side", "--force-conflicts", ...args], stdin);
}

async function succeed(server: CapiServer, args: readonly string[], stdin?: string): Promise<void> {
  await eventually(
    `kubectl ${args.slice(0, 3).join(" ")}`,
    async () => {
      const ran = await server.kubectl(args, { limitMs: 120_000, ...(stdin === undefined ? {} : { stdin }) });
      if (ran.code !== 0) throw new Error(ran.stderr);
      return true;
    },
    { withinMs: 60_000, everyMs: 1_000 },
  );
}
