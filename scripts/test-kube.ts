/**
 * `npm run test:kube`: the stories of test/kube against a real etcd, kube-apiserver and kube-controller-manager. See `--help` and
 * docs/guides/real-kubernetes.md.
 *
 * The last line is read by programs: see vitest/counts.ts. On a machine that cannot build Kubernetes the lane is skipped with one line and
 * exit code 0.
 */
import { HELP, parseArguments } from "./kube/arguments.ts";
import { keepPlaneUp } from "./kube/keep-plane-up.ts";
import { obtainBinaries } from "./kube/obtain-binaries.ts";
import type { Stories } from "./kube/run-stories.ts";
import { colorEnvironment } from "./process/color-environment.ts";
import { formatCounts } from "./vitest/counts.ts";

// vitest leaves handles open after a run, so that waiting for an empty event loop could wait for ever
process.exit(await main());

async function main(): Promise<number> {
  const args = parseArguments(process.argv.slice(2));
  if (!args.ok) return fail(args.error);
  const { help, bin, up, all, vitest } = args.value;
  if (help) {
    console.log(HELP);
    return 0;
  }
  const obtained = await obtainBinaries({ named: bin, environment: process.env, say: (line) => console.log(`test:kube: ${line}`) });
  switch (obtained.kind) {
    case "skipped":
      console.log(`test:kube skipped: ${obtained.why}`);
      return up ? 1 : 0;
    case "failed":
      return fail(obtained.why);
    case "binaries":
      return up ? keepPlaneUp(obtained.folder) : runAll(obtained.folder, { all, vitest });
  }
}

async function runAll(binaries: string, stories: Stories): Promise<number> {
  process.env = { ...colorEnvironment(process.env, process.stdout.isTTY), LATTICE_KUBE_BIN: binaries };
  const { runStories } = await import("./kube/run-stories.ts"); // vitest decides about colors when it is loaded
  const counts = await runStories(stories);
  console.log(`\n${formatCounts(counts)}`);
  return counts.failed === 0 ? 0 : 1;
}

function fail(why: string): number {
  console.error(`test:kube: ${why}`);
  console.log(formatCounts({ passed: 0, failed: 1, skipped: 0 }));
  return 1;
}
