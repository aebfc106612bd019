/**
 * Credentials from an exec plugin (aws, gcloud, kubelogin, …): requested on demand, cached until they expire or the server refuses them.
 *
 * Concurrent calls share one run of the plugin: plugins open browsers and prompt for passwords.
 */
import { err, ok, type Clock, type Result } from "#base";
import type { ClientCertificate, ClusterConfig, Credential, Credentials } from "../cluster-config.ts";
import { failure, type KubeError } from "../errors.ts";
import type { ExecConfig, KubeconfigCluster } from "./kubeconfig.ts";
import { unlessAborted } from "../unless-aborted.ts";
import { field } from "#kube";
import {
  formatExecInfo,
  parseExecApiVersion,
  parseExecCredential,
  type ExecApiVersion,
  type IssuedCredential,
} from "../credentials/exec-credential.ts";
import { runCommand, type Command, type CommandOutcome, type RunCommand } from "../credentials/run-command.ts";

/** A token that is about to expire could expire before the server checks it. */
const EXPIRY_MARGIN_MS = 10_000;
const TIME_LIMIT_MS = 60_000;
/** The user may need a second device first. */
const INTERACTIVE_TIME_LIMIT_MS = 300_000;
const STDERR_SHOWN = 500;

export type ExecPluginOptions = {
  readonly exec: ExecConfig;
  /** The file and the user of the kubeconfig, for messages. */
  readonly at: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly cluster: KubeconfigCluster;
  readonly server: Pick<ClusterConfig, "server" | "certificateAuthority" | "serverName">;
  /** The certificate of the user entry, which overrides the plugin's. */
  readonly certificate?: ClientCertificate | undefined;
  readonly runCommand?: RunCommand;
  readonly interactive?: boolean;
};

export function execCredentials(options: ExecPluginOptions): Result<Credentials, string> {
  const apiVersion = parseExecApiVersion(options.exec.apiVersion);
  if (!apiVersion.ok) return apiVersion;
  const interactive = mayInteract(options.exec.interactiveMode, apiVersion.value, options.interactive ?? false);
  return interactive.ok ? ok(new ExecCredentials(options, apiVersion.value, interactive.value)) : interactive;
}

function mayInteract(mode: string | undefined, apiVersion: ExecApiVersion, terminal: boolean): Result<boolean, string> {
  if (mode === undefined && apiVersion === "client.authentication.k8s.io/v1")
    return err("exec.interactiveMode is missing; write Never, IfAvailable or Always");
  if (mode === "Never") return ok(false);
  if (mode === undefined || mode === "IfAvailable") return ok(terminal);
  if (mode !== "Always") return err("exec.interactiveMode must be Never, IfAvailable or Always");
  return terminal ? ok(true) : err("the credential plugin needs a terminal (interactiveMode: Always), and there is none");
}

class ExecCredentials implements Credentials {
  readonly #options: ExecPluginOptions;
  readonly #apiVersion: ExecApiVersion;
  readonly #interactive: boolean;
  readonly #closing = new AbortController();
  #issued: IssuedCredential | undefined;
  #running: Promise<Result<IssuedCredential, KubeError>> | undefined;

  constructor(options: ExecPluginOptions, apiVersion: ExecApiVersion, interactive: boolean) {
    this.#options = options;
    this.#apiVersion = apiVersion;
    this.#interactive = interactive;
  }

  async get(signal: AbortSignal): Promise<Result<Credential, KubeError>> {
    if (this.#issued !== undefined && !this.#isExpired(this.#issued)) return ok(this.#issued.credential);
    const issued = await unlessAborted((this.#running ??= this.#run()), signal);
    if (issued === undefined) return failure("cancelled", "the call was cancelled while a credential plugin ran", "safe");
    return issued.ok ? ok(issued.value.credential) : issued;
  }

  refused(credential: Credential): boolean {
    // of many calls that failed with it only the first one runs the plugin again
    if (this.#issued?.credential === credential) this.#issued = undefined;
    return true;
  }

  close(): void {
    this.#closing.abort();
  }

  #isExpired({ expiresAt }: IssuedCredential): boolean {
    return expiresAt !== undefined && this.#options.clock.now() >= expiresAt - EXPIRY_MARGIN_MS;
  }

  async #run(): Promise<Result<IssuedCredential, KubeError>> {
    const limit = new AbortController();
    const timeLimit = this.#interactive ? INTERACTIVE_TIME_LIMIT_MS : TIME_LIMIT_MS;
    const cancelTimer = this.#options.clock.after(timeLimit, () => limit.abort());
    try {
      const run = this.#options.runCommand ?? runCommand;
      const outcome = await run(this.#command(), AbortSignal.any([limit.signal, this.#closing.signal]));
      if (this.#closing.signal.aborted) return failure("cancelled", "the client was closed while a credential plugin ran", "safe");
      if (limit.signal.aborted) return this.#failed(`it did not finish within ${timeLimit / 1_000} s`);
      return this.#accept(outcome);
    } finally {
      cancelTimer();
      this.#running = undefined;
    }
  }

  #command(): Command {
    const { exec, env, server, cluster } = this.#options;
    const info = exec.provideClusterInfo ? { ...server, config: field(cluster.execConfig, "extension") } : undefined;
    const all = {
      ...env,
      ...Object.fromEntries(exec.env),
      KUBERNETES_EXEC_INFO: formatExecInfo(this.#apiVersion, this.#interactive, info),
    };
    const given = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
    return { command: exec.command, args: exec.args, env: Object.fromEntries(given), interactive: this.#interactive };
  }

  #accept(outcome: CommandOutcome): Result<IssuedCredential, KubeError> {
    switch (outcome.kind) {
      case "not-found":
        return this.#failed(`it is not installed${hint(this.#options.exec.installHint)}`);
      case "failed":
        return this.#failed(outcome.message);
      case "exited":
        if (outcome.code !== 0) return this.#failed(`it ended with ${outcome.code ?? "a signal"}${stderrText(outcome.stderr)}`);
    }
    const issued = parseExecCredential(outcome.stdout, this.#apiVersion);
    if (!issued.ok) return this.#failed(issued.error);
    const { token, certificate } = issued.value.credential;
    this.#issued = { ...issued.value, credential: { token, certificate: this.#options.certificate ?? certificate } };
    return ok(this.#issued);
  }

  #failed(what: string): Result<never, KubeError> {
    return failure("unauthorized", `${this.#options.at}the credential plugin ${this.#options.exec.command} failed: ${what}`, "useless");
  }
}

function hint(installHint: string | undefined): string {
  return installHint === undefined ? "" : `: ${oneLine(installHint)}`;
}

/** The end of its standard error, on one line and without control characters. */
function stderrText(stderr: string): string {
  const text = oneLine(stderr);
  return text === "" ? "" : `: ${text.slice(-STDERR_SHOWN)}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\s]+/gu, " ").trim();
}
