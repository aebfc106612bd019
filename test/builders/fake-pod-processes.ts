/** Pods as processes, without processes: a test sets the states of their containers. Pods with label `run: process` run here. */
import type { Pod } from "#kube";
import type { ContainerLogOptions, ContainerProcess, PodProcesses } from "#kube-controllers";

export const PROCESS_LABELS = { run: "process" };

type LogChunks = (options: ContainerLogOptions, signal: AbortSignal) => AsyncIterable<Uint8Array> | undefined;

export class FakePodProcesses implements PodProcesses {
  /** "ensure p", "stop p 30000", "forget p", "retain p q", without repetitions in a row. */
  readonly calls: string[] = [];
  /** What `readLog` returns. */
  logs: LogChunks = () => undefined;
  /** The kubelet has been restarted, and the states are not known yet. */
  hidden = false;
  /** Whether `stop` ends containers at once. */
  stopsAtOnce = true;
  readonly #now: () => number;
  readonly #names = new Map<string, string>();
  readonly #states = new Map<string, Map<string, ContainerProcess>>();
  readonly #stopped = new Set<string>();
  readonly #listeners = new Set<(uid: string) => void>();

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly runs = (pod: Pod) => pod.metadata.labels?.["run"] === "process";

  readonly ensure = (pod: Pod) => {
    const uid = this.#call("ensure", pod);
    const known = this.#states.get(uid);
    if (known === undefined) this.#states.set(uid, new Map());
    for (const { name } of pod.spec.containers) {
      const before = known?.get(name);
      if (before === undefined) this.set(uid, name, { state: { kind: "waiting", reason: "ContainerCreating", message: "" } });
      else if (before.state.kind === "ended" && this.#stopped.has(uid)) this.run(uid, name, before.restarts + 1);
    }
    this.#stopped.delete(uid);
  };

  readonly stop = (pod: Pod, graceMs: number) => {
    const uid = this.#call("stop", pod, String(graceMs));
    this.#stopped.add(uid);
    if (this.stopsAtOnce) for (const { name } of pod.spec.containers) this.exit(uid, name, graceMs === 0 ? 137 : 0);
  };

  readonly forget = (uid: string) => {
    this.#record(`forget ${this.#names.get(uid) ?? uid}`);
    this.#states.delete(uid);
  };

  readonly states = (uid: string) => (this.hidden ? undefined : this.#states.get(uid));

  readonly subscribe = (listener: (uid: string) => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly retain = (uids: ReadonlySet<string>) => {
    this.#record(["retain", ...[...uids].map((uid) => this.#names.get(uid) ?? uid)].join(" "));
  };

  readonly readLog = (_uid: string, options: ContainerLogOptions, signal: AbortSignal) => this.logs(options, signal);

  get listeners(): number {
    return this.#listeners.size;
  }

  uidOf(name: string): string {
    return [...this.#names].find(([, known]) => known === name)?.[0] ?? "";
  }

  set(uid: string, container: string, process: Partial<ContainerProcess>): void {
    const containers = this.#states.get(uid) ?? new Map<string, ContainerProcess>();
    const none: ContainerProcess = { state: { kind: "waiting", reason: "ContainerCreating", message: "" }, restarts: 0, ready: false };
    containers.set(container, { ...none, ...containers.get(container), ...process });
    this.#states.set(uid, containers);
    this.tell(uid);
  }

  /** The container runs; it was started `restarts` times before. */
  run(uid: string, container: string, restarts = 0): void {
    const before = this.#states.get(uid)?.get(container);
    const last = before?.state.kind === "ended" ? before.state : before?.last;
    this.set(uid, container, { state: { kind: "running", startedAt: this.#now() }, last, restarts, ready: true });
  }

  exit(uid: string, container: string, exitCode: number): void {
    const before = this.#states.get(uid)?.get(container);
    if (before?.state.kind === "ended") return;
    const startedAt = before?.state.kind === "running" ? before.state.startedAt : 0;
    this.set(uid, container, { state: { kind: "ended", exitCode, startedAt, finishedAt: this.#now() }, ready: false });
  }

  tell(uid: string): void {
    for (const listener of this.#listeners) listener(uid);
  }

  #call(what: string, { metadata: { name, uid = "" } }: Pod, detail?: string): string {
    this.#names.set(uid, name);
    this.#record([what, name, ...(detail === undefined ? [] : [detail])].join(" "));
    return uid;
  }

  #record(call: string): void {
    if (this.calls.at(-1) !== call) this.calls.push(call);
  }
}
