/** Runs an installation or its reverse: observe, decide, perform one step, until there is none. */
import { backoffDelay, err, ok, sleep, type BackoffPolicy, type Result } from "#base";
import {
  nextInstallStep,
  nextUninstallStep,
  type InstallDecision,
  type InstallStep,
  type InstallView,
  type UninstallOptions,
  type UninstallStep,
} from "./decide.ts";
import { observeInstall } from "./observe.ts";
import {
  applyFileChanges,
  applyManagementCluster,
  deleteManagementCluster,
  detachManagement,
  inHost,
  makeBootstrapCell,
  markDeleted,
  moveBack,
  releaseBootstrap,
  type Performed,
  type RequestedObjects,
  type StepContext,
} from "./steps.ts";

export type InstallProgress<Step = InstallStep | UninstallStep> =
  | { readonly kind: "step"; readonly step: Step; /** What exactly it does. */ readonly detail?: string | undefined }
  /** What differs from the file and is left as it is. */
  | { readonly kind: "note"; readonly text: string }
  | { readonly kind: "wait"; readonly text: string; readonly view: InstallView }
  /** A step has failed and is repeated. */
  | { readonly kind: "failed"; readonly step: Step; readonly message: string };

/** "refused": a person must act. "failed": it did not succeed for too long; the same command continues. "stopped": by the signal. */
export type InstallFailure = { readonly kind: "refused" | "failed" | "stopped"; readonly message: string };

export type RunOptions = Omit<StepContext, "onMove"> & {
  readonly report: (progress: InstallProgress) => void;
  readonly onMove?: StepContext["onMove"];
  /** How long steps may fail one after the other. */
  readonly patienceMs: number;
};

/** `file`: as a person has written it, to be compared with what an earlier run has made. */
export type InstallOptions = RunOptions & RequestedObjects;

const POLL_MS = 500;
const RETRY: BackoffPolicy = { initialMs: 250, maxMs: 4_000, factor: 2 };

export function runInstall(options: InstallOptions): Promise<Result<void, InstallFailure>> {
  const context = contextOf(options);
  const steps: Readonly<Record<Exclude<InstallStep, "done">, () => Performed>> = {
    "create-bootstrap": () => inHost(options.host.create(options.signal)),
    "make-cell": () => makeBootstrapCell(context),
    "apply-cluster": () => applyManagementCluster(context, options),
    "apply-changes": () => (options.file === undefined ? Promise.resolve(ok(undefined)) : applyFileChanges(context, options.file)),
    detach: () => detachManagement(context),
    "release-bootstrap": () => releaseBootstrap(context),
    "remove-bootstrap": () => inHost(options.host.remove(options.signal)),
  };
  return run(options, { decide: installDecision(), steps, file: options.file });
}

/** What was deleted while this run has looked is not created again by it, but by the next one. */
function installDecision(): (view: InstallView) => InstallDecision<InstallStep> {
  let wasDeleted = false;
  return (view) => {
    const { name, bootstrap } = view;
    wasDeleted ||= bootstrap.state === "there" && bootstrap.view.cluster?.isBeingDeleted === true;
    const decision = nextInstallStep(view);
    const isMadeAgain = wasDeleted && "step" in decision && decision.step === "apply-cluster";
    return isMadeAgain
      ? { refused: `LatticeCluster ${name} was deleted in the bootstrap cluster; run the same command again to make it anew` }
      : decision;
  };
}

export function runUninstall(options: RunOptions & UninstallOptions): Promise<Result<void, InstallFailure>> {
  const context = contextOf(options);
  const steps: Readonly<Record<Exclude<UninstallStep, "done">, () => Performed>> = {
    "create-bootstrap": () => inHost(options.host.create(options.signal)),
    "move-back": () => moveBack(context),
    "delete-cluster": () => deleteManagementCluster(context),
    "release-bootstrap": () => markDeleted(context, () => releaseBootstrap(context)),
    "remove-bootstrap": () => markDeleted(context, () => inHost(options.host.remove(options.signal))),
  };
  // the management cluster is gone, and would be waited for
  return run(options, {
    decide: (view) => nextUninstallStep(view, options),
    steps,
    last: new Set(["release-bootstrap", "remove-bootstrap"]),
  });
}

function contextOf({ onMove = () => {}, ...options }: RunOptions): StepContext {
  return { ...options, onMove };
}

type Work<Step extends string> = {
  readonly decide: (view: InstallView) => InstallDecision<Step>;
  readonly steps: Readonly<Record<Exclude<Step, "done">, () => Performed>>;
  /** Steps after which nothing is observed again. */
  readonly last?: ReadonlySet<Step>;
  readonly file?: RequestedObjects["file"];
};

async function run<Step extends InstallStep | UninstallStep>(
  options: RunOptions,
  { decide, steps, last, file }: Work<Step>,
): Promise<Result<void, InstallFailure>> {
  const { clock, random, signal, report, patienceMs } = options;
  const noted = new Set<string>();
  const onNote = (text: string) => {
    if (!noted.has(text)) report({ kind: "note", text });
    noted.add(text);
  };
  let failures = 0;
  let failingSince = 0;
  while (!signal.aborted) {
    const view = await observeInstall({ ...options, file, onNote });
    const decision = decide(view);
    if ("refused" in decision) return err({ kind: "refused", message: decision.refused });
    if ("wait" in decision) {
      failures = 0;
      report({ kind: "wait", text: decision.wait, view });
      await sleep(clock, POLL_MS, signal);
      continue;
    }
    const { step } = decision;
    if (step === "done") return ok(undefined);
    report({ kind: "step", step, ...(decision.detail === undefined ? {} : { detail: decision.detail }) });
    const performed = await steps[step as Exclude<Step, "done">]();
    if (performed.ok) {
      failures = 0;
      if (last?.has(step) === true) return ok(undefined);
      continue;
    }
    const { kind, message } = performed.error;
    if (kind === "refused") return err({ kind, message });
    failures += 1;
    if (failures === 1) failingSince = clock.monotonic();
    if (clock.monotonic() - failingSince > patienceMs) return err({ kind, message });
    report({ kind: "failed", step, message });
    await sleep(clock, backoffDelay(RETRY, failures, random), signal);
  }
  return err({ kind: "stopped", message: "stopped before the end; the same command continues" });
}
