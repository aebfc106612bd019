/** The arguments of `npm run test:kube`: a few are its own, all others are passed to vitest. */
import { err, ok, type Result } from "#base";

export type Arguments = {
  readonly help: boolean;
  /** Start a plane and keep it until Ctrl-C, instead of running stories. */
  readonly up: boolean;
  /** Also the stories of test/kube/all, which take long. */
  readonly all: boolean;
  readonly bin: string | undefined;
  readonly vitest: readonly string[];
};

export const HELP = `usage: npm run test:kube -- [--all] [--bin DIR] [FILTER...] [vitest options]
       npm run test:kube -- --up [--bin DIR]

Runs the stories of test/kube against a real etcd, kube-apiserver and kube-controller-manager.

  FILTER         only the files whose path contains it, e.g. "crds"
  -t TEXT        only the tests whose name contains it
  --all          also the stories of test/kube/all: Kubernetes' own end-to-end suite on the embedded API server, and the
                 managers of Cluster API on a real and an embedded one (about 10 minutes, and once 10 to 25 minutes
                 to build them)
  --up           start a control plane, print its kubeconfig, keep it until Ctrl-C; runs no stories
  --bin DIR      use the programs in DIR: etcd, kube-apiserver, kube-controller-manager, kubectl (and e2e.test)
  --help         this text

Without --bin, LATTICE_KUBE_BIN or a complete KUBEBUILDER_ASSETS the programs are built with Go, once, and kept in
~/.cache/lattice. Programs that only some stories need (e2e.test, Cluster API) are built when such a story runs.

  npm run test:kube                            the stories that CI runs
  npm run test:kube -- --all conformance       the end-to-end suite alone
  npm run test:kube -- --all all/cluster-api   Cluster API alone
  npm run test:kube -- crds -t "short names"   one claim

More: docs/guides/real-kubernetes.md`;

export function parseArguments(args: readonly string[]): Result<Arguments, string> {
  const vitest: string[] = [];
  const flags = new Set<string>();
  let bin: string | undefined;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (OWN_FLAGS.has(arg)) flags.add(arg);
    else if (arg.startsWith("--bin=")) bin = arg.slice("--bin=".length);
    else if (arg === "--bin") bin = args[++index] ?? "";
    else vitest.push(arg);
  }
  const [help, up, all] = [flags.has("--help") || flags.has("-h"), flags.has("--up"), flags.has("--all")];
  if (bin === "") return err("--bin needs a folder");
  const unused = [...(all ? ["--all"] : []), ...vitest];
  if (up && unused.length > 0) return err(`--up runs no stories, so it takes no ${unused.join(" ")}`);
  return ok({ help, up, all, bin, vitest });
}

const OWN_FLAGS: ReadonlySet<string> = new Set(["--help", "-h", "--up", "--all"]);
