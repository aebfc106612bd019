/**
 * The CRDs of the projects whose objects Lattice compiles, as those projects publish them. They are part of Go modules, so Go fetches them into
 * its own cache; none of them is in this repository.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { err, expectOk, ok, type Result } from "#base";
import { fieldAt, parseJson, parseYaml, type KubeObject } from "#kube";
import { FLAGGER_VERSION } from "../../../scripts/kube/versions.ts";
import { runProgram } from "./run-program.ts";

export type CrdSource = {
  readonly module: string;
  readonly version: string;
  /** A file, or a folder of files. */
  readonly path: string;
  /** Names of the CRDs to read. */
  readonly names: readonly string[];
};

export const CILIUM = { module: "github.com/cilium/cilium", version: "v1.20.2" };
export const FLAGGER_MODULE = { module: "github.com/fluxcd/flagger", version: `v${FLAGGER_VERSION}` };
const CILIUM_CRDS = "pkg/k8s/apis/cilium.io/client/crds/v2";

/** Kinds of compiled services and meshes. */
export const MESH_CRDS: readonly CrdSource[] = [
  { ...CILIUM, path: `${CILIUM_CRDS}/ciliumnetworkpolicies.yaml`, names: ["ciliumnetworkpolicies.cilium.io"] },
  { ...CILIUM, path: `${CILIUM_CRDS}/ciliumclusterwidenetworkpolicies.yaml`, names: ["ciliumclusterwidenetworkpolicies.cilium.io"] },
  {
    module: "istio.io/api",
    version: "v1.31.1",
    path: "kubernetes/customresourcedefinitions.gen.yaml",
    names: ["authorizationpolicies.security.istio.io", "peerauthentications.security.istio.io", "serviceentries.networking.istio.io"],
  },
  { ...FLAGGER_MODULE, path: "artifacts/flagger/crd.yaml", names: ["canaries.flagger.app"] },
  {
    module: "sigs.k8s.io/gateway-api",
    version: "v1.6.3",
    path: "config/crd/standard",
    names: ["gateways.gateway.networking.k8s.io", "httproutes.gateway.networking.k8s.io"],
  },
  {
    module: "github.com/external-secrets/external-secrets",
    version: "v1.3.2",
    path: "config/crds/bases/external-secrets.io_externalsecrets.yaml",
    names: ["externalsecrets.external-secrets.io"],
  },
];

/** All kinds of Flagger, which does not start without them. */
export const FLAGGER_CRDS: readonly CrdSource[] = [
  {
    ...FLAGGER_MODULE,
    path: "artifacts/flagger/crd.yaml",
    names: ["canaries", "metrictemplates", "alertproviders"].map((plural) => `${plural}.flagger.app`),
  },
];

const CLUSTER_API = { module: "sigs.k8s.io/cluster-api", version: "v1.14.2" };

/** Kinds of compiled clusters. */
export const CLUSTER_API_CRDS: readonly CrdSource[] = [
  {
    ...CLUSTER_API,
    path: "core/config/crd/bases",
    names: ["clusters", "clusterclasses", "machinedeployments", "machines"].map((plural) => `${plural}.cluster.x-k8s.io`),
  },
  {
    ...CLUSTER_API,
    path: "controlplane/kubeadm/config/crd/bases",
    names: ["kubeadmcontrolplanes.controlplane.cluster.x-k8s.io"],
  },
];

const infrastructure = (...plurals: readonly string[]) => plurals.map((plural) => `${plural}.infrastructure.cluster.x-k8s.io`);

/** Every kind of a compiled cluster, of all providers but `local`. */
export const COMPILED_CLUSTER_CRDS: readonly CrdSource[] = [
  {
    ...CLUSTER_API,
    path: "core/config/crd/bases",
    names: ["clusters", "machinedeployments", "machinehealthchecks"].map((plural) => `${plural}.cluster.x-k8s.io`),
  },
  {
    ...CLUSTER_API,
    path: "controlplane/kubeadm/config/crd/bases",
    names: ["kubeadmcontrolplanes.controlplane.cluster.x-k8s.io"],
  },
  {
    ...CLUSTER_API,
    path: "bootstrap/kubeadm/config/crd/bases",
    names: ["kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io"],
  },
  {
    module: "sigs.k8s.io/cluster-api/test",
    version: "v1.14.0",
    path: "infrastructure/docker/config/crd/bases",
    names: infrastructure("devclusters", "devmachinetemplates"),
  },
  {
    module: "sigs.k8s.io/cluster-api-provider-aws/v2",
    version: "v2.13.0",
    path: "config/crd/bases",
    names: infrastructure("awsclusters", "awsclusterstaticidentities", "awsmachinetemplates"),
  },
  {
    module: "sigs.k8s.io/cluster-api-provider-gcp",
    version: "v1.13.1",
    path: "config/crd/bases",
    names: infrastructure("gcpclusters", "gcpmachinetemplates"),
  },
  {
    module: "sigs.k8s.io/cluster-api-provider-azure",
    version: "v1.23.1",
    path: "config/crd/bases",
    names: infrastructure("azureclusters", "azuremachinetemplates"),
  },
  // of what a cell keeps for itself
  { ...CILIUM, path: `${CILIUM_CRDS}/ciliumloadbalancerippools.yaml`, names: ["ciliumloadbalancerippools.cilium.io"] },
  { ...CILIUM, path: `${CILIUM_CRDS}alpha1/ciliuml2announcementpolicies.yaml`, names: ["ciliuml2announcementpolicies.cilium.io"] },
];

const FETCH_LIMIT_MS = 300_000;

/** The error is one line: this machine has no Go, or cannot reach the module proxy. */
export async function publishedCrds(sources: readonly CrdSource[]): Promise<Result<readonly KubeObject[], string>> {
  const crds: KubeObject[] = [];
  for (const source of sources) {
    const folder = await moduleFolder(source);
    if (!folder.ok) return folder;
    const found = await crdsIn(join(folder.value, source.path));
    crds.push(...found.filter(({ metadata }) => source.names.includes(metadata.name)));
  }
  const found = new Set(crds.map(({ metadata }) => metadata.name));
  const lost = sources.flatMap(({ names }) => names).filter((name) => !found.has(name));
  return lost.length === 0 ? ok(crds) : err(`no published CRD is called ${lost.join(", ")}`);
}

/** The error is one line, as above. */
export async function moduleFolder({ module, version }: Pick<CrdSource, "module" | "version">): Promise<Result<string, string>> {
  const env = { ...process.env, GOWORK: "off", GOFLAGS: "" };
  const ran = await runProgram("go", ["mod", "download", "-json", `${module}@${version}`], { cwd: tmpdir(), env, limitMs: FETCH_LIMIT_MS });
  const answer = parseJson(ran.stdout);
  const folder = answer.ok ? fieldAt(answer.value, "Dir") : undefined;
  if (ran.code === 0 && typeof folder === "string") return ok(folder);
  const reported = answer.ok ? fieldAt(answer.value, "Error") : undefined;
  const [why = ""] = (typeof reported === "string" ? reported : ran.stderr).trim().split("\n");
  return err(`${module}@${version} cannot be fetched: ${why}`);
}

async function crdsIn(path: string): Promise<readonly KubeObject[]> {
  const files = (await stat(path)).isDirectory() ? (await readdir(path)).map((name) => join(path, name)) : [path];
  const texts = await Promise.all(files.filter((file) => file.endsWith(".yaml")).map((file) => readFile(file, "utf8")));
  const objects = texts.flatMap((text) => expectOk(parseYaml(text))) as unknown as readonly KubeObject[];
  return objects.filter(({ kind }) => kind === "CustomResourceDefinition");
}
