/**
 * Which programs the real-Kubernetes lane runs, and how each is built.
 *
 * To move to another version: change it here and in modules/*\/go.mod (the replaces are v0.X.Y for Kubernetes v1.X.Y), run
 * `go mod tidy` in that folder, and commit go.sum with it: it pins every byte that is built.
 */
export const KUBE_VERSION = "1.36.3";
export const ETCD_VERSION = "3.6.16";
export const CAPI_VERSION = "1.14.2";
/** The infrastructure for tests: 1.14.2 is not published as a module, and this one runs with the other managers. */
export const CAPD_VERSION = "1.14.0";
const HELM_VERSION = "4.3.1";
const HELM_3_VERSION = "3.22.0";
export const FLAGGER_VERSION = "1.44.0";

/** The Go version of Kubernetes' go.mod. */
export const GO_MINIMUM = { major: 1, minor: 26 } as const;

export type BinaryName =
  | "etcd"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kubectl"
  | "e2e.test"
  | "helm"
  | "helm3"
  | "clusterctl"
  | "flagger"
  | CapiBinaryName;
export type CapiBinaryName = "capi-core" | "capi-bootstrap-kubeadm" | "capi-controlplane-kubeadm" | "capd";

export type Binary = {
  readonly name: BinaryName;
  readonly version: string;
  /** Folder below modules/ whose go.mod and go.sum pin it. */
  readonly module: "etcd" | "kube" | "e2e" | "capi" | "helm" | "helm3" | "flagger";
  readonly package: string;
  /** Most packages are built as programs, some as tests. */
  readonly build: "program" | "tests";
  readonly ldflags: string;
  /** The arguments that print its version. */
  readonly versionArgs: readonly string[];
  /** For programs that do not print their version: a text that they print instead. */
  readonly prints?: string;
  /** Minutes of a first build on 2 cores, after the earlier ones of this list. */
  readonly minutes: number;
};

const [kubeMajor, kubeMinor] = KUBE_VERSION.split(".");

/** The published module has the version v0.0.0-master; kubectl and the servers read two packages. */
const kubeFlags = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"]
  .flatMap((pkg) => [
    `-X ${pkg}.gitVersion=v${KUBE_VERSION}`,
    `-X ${pkg}.gitMajor=${kubeMajor}`,
    `-X ${pkg}.gitMinor=${kubeMinor}`,
    `-X ${pkg}.gitTreeState=clean`,
  ])
  .join(" ");

function kubeBinary(name: BinaryName, minutes: number, versionArgs: readonly string[]): Binary {
  const ldflags = `-s -w ${kubeFlags}`;
  const from = { module: "kube", package: `k8s.io/kubernetes/cmd/${name}`, build: "program" } as const;
  return { name, version: KUBE_VERSION, ...from, ldflags, versionArgs, minutes };
}

/** The programs that every story needs. */
export const BINARIES: readonly Binary[] = [
  {
    name: "etcd",
    version: ETCD_VERSION,
    module: "etcd",
    package: "go.etcd.io/etcd/server/v3",
    build: "program",
    ldflags: "-s -w",
    versionArgs: ["--version"],
    minutes: 2,
  },
  kubeBinary("kube-apiserver", 5, ["--version"]),
  kubeBinary("kube-controller-manager", 2, ["--version"]),
  kubeBinary("kubectl", 1, ["version", "--client"]),
];

/** Kubernetes' own end-to-end suite as one program, for the stories of test/kube/all alone. */
export const E2E_SUITE: Binary = {
  name: "e2e.test",
  version: KUBE_VERSION,
  module: "e2e",
  package: "k8s.io/kubernetes/test/e2e",
  build: "tests",
  ldflags: `-s -w ${kubeFlags}`,
  versionArgs: ["--version"],
  minutes: 12,
};

const capiFlags = `-s -w ${["gitVersion=v" + CAPI_VERSION, "gitMajor=1", "gitMinor=14", "gitTreeState=clean"]
  .map((value) => `-X sigs.k8s.io/cluster-api/version.${value}`)
  .join(" ")}`;

function capiManager(name: CapiBinaryName, path: string, minutes: number): Binary {
  const version = name === "capd" ? CAPD_VERSION : CAPI_VERSION;
  const from = { module: "capi", package: `sigs.k8s.io/cluster-api/${path}`, build: "program", ldflags: capiFlags } as const;
  return { name, version, ...from, versionArgs: ["--help"], prints: "--webhook-port", minutes };
}

/** The managers of Cluster API, for the stories that need them. */
export const CAPI_BINARIES: readonly Binary[] = [
  capiManager("capi-core", "core", 4),
  capiManager("capi-bootstrap-kubeadm", "bootstrap/kubeadm", 1),
  capiManager("capi-controlplane-kubeadm", "controlplane/kubeadm", 1),
  capiManager("capd", "test/infrastructure/docker", 1),
];

/** For the stories and the bench that compare a move with its own. */
export const CLUSTERCTL: Binary = {
  name: "clusterctl",
  version: CAPI_VERSION,
  module: "capi",
  package: "sigs.k8s.io/cluster-api/cmd/clusterctl",
  build: "program",
  ldflags: capiFlags,
  versionArgs: ["version", "-o", "short"],
  minutes: 1,
};

/** For the stories that render a chart, and for those of patch mode: it writes by server-side apply. */
export const HELM: Binary = helmBinary("helm", HELM_VERSION, 4);

/** For the stories of patch mode: it writes by three-way strategic merge patches. */
export const HELM_3: Binary = helmBinary("helm3", HELM_3_VERSION, 2);

function helmBinary(name: "helm" | "helm3", version: string, minutes: number): Binary {
  const module = `helm.sh/helm/v${version.split(".")[0]}`;
  const ldflags = `-s -w -X ${module}/internal/version.version=v${version}`;
  return { name, version, module: name, package: `${module}/cmd/helm`, build: "program", ldflags, versionArgs: ["version"], minutes };
}

/** For the story of patch mode beside a Canary. */
export const FLAGGER: Binary = {
  name: "flagger",
  version: FLAGGER_VERSION,
  module: "flagger",
  package: "github.com/fluxcd/flagger/cmd/flagger",
  build: "program",
  ldflags: "-s -w",
  versionArgs: ["--version"],
  minutes: 2,
};
