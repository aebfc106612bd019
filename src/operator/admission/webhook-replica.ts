/**
 * What every replica runs of the admission webhook: the index of workload patches, and the server with the certificate that the leader has issued.
 *
 * The server begins to listen when there is a certificate. Before that no API server is configured to call it, so a replica without one is ready:
 * otherwise a new version could never replace one that has no webhook.
 */
import { MetricsRegistry, type Clock, type Logger, type Metrics } from "#base";
import { Informer } from "#controller-runtime";
import { PatchIndex, reviewDeployments, startAdmissionServer, type AdmissionServer, type WebhookAddress } from "#http";
import { WORKLOAD_PATCH_LABEL } from "#workload-patch";
import { configMaps, secrets, type ConfigMap, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import type { ReplicaHealth } from "../parts.ts";
import { ADMISSION_CERTIFICATE_SECRET, readServing } from "./serving-secret.ts";
import { Wakeup } from "./wakeup.ts";

export type WebhookSettings = {
  /** Where API servers find the webhook: through Service lattice-webhook of the cluster, or at the address outside it. */
  readonly kind: "service" | "url";
  /** The address to listen on. */
  readonly host: string;
  readonly port: number;
};

export const WEBHOOK_SERVICE = "lattice-webhook";
export const WEBHOOK_PORT = 9_443;
/** All addresses of the Pod. */
export const WEBHOOK_IN_POD: WebhookSettings = { kind: "service", host: "0.0.0.0", port: WEBHOOK_PORT };
/** After a failure to listen. */
const RETRY_MS = 5_000;

export type WebhookReplicaOptions = {
  readonly settings: WebhookSettings;
  /** The operator's namespace. */
  readonly home: string;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
};

export class WebhookReplica {
  readonly index: PatchIndex;
  /** For the leader: patches, the certificate or the address have changed. */
  readonly wakeup = new Wakeup();
  readonly #options: WebhookReplicaOptions;
  readonly #patches: Informer<ConfigMap>;
  readonly #certificates: Informer<KubeObject>;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #loading: Promise<void> = Promise.resolve();
  #cancelRetry: () => void = () => {};
  #server: AdmissionServer | undefined;
  #problem: string | undefined;

  constructor(options: WebhookReplicaOptions) {
    this.#options = options;
    const { home, logger } = options;
    this.index = new PatchIndex({ home, logger, onTargets: () => this.wakeup.wake() });
    // their gauges would be those of the manager's informers of the same kinds
    const common = { ...options, metrics: new MetricsRegistry(), namespace: home };
    this.#patches = new Informer<ConfigMap>({ ...common, resource: configMaps, labelSelector: `${WORKLOAD_PATCH_LABEL}=true` });
    const fieldSelector = `metadata.name=${ADMISSION_CERTIFICATE_SECRET}`;
    this.#certificates = new Informer<KubeObject>({ ...common, resource: secrets, fieldSelector, mayBeForbidden: true });
  }

  start(): void {
    this.#patches.subscribe(({ key, after }) => (after === undefined ? this.index.remove(key.name) : this.index.put(after)));
    this.#certificates.subscribe(() => {
      this.#load();
      this.wakeup.wake();
    });
    this.#running = Promise.all([this.#patches.run(this.#stop.signal), this.#certificates.run(this.#stop.signal)]);
  }

  /** All patches are in the index; false: the signal fired first. */
  synced(signal: AbortSignal): Promise<boolean> {
    return this.#patches.synced(signal);
  }

  /** Undefined: the port is not known yet. */
  address(): WebhookAddress | undefined {
    const { settings, home } = this.#options;
    if (settings.kind === "service") return { kind: "service", namespace: home, name: WEBHOOK_SERVICE };
    return this.#server === undefined ? undefined : { kind: "url", host: settings.host, port: this.#server.port };
  }

  health(): ReplicaHealth {
    const [patches, certificates] = [this.#patches.health(), this.#certificates.health()];
    const hasCertificate = this.#certificates.list().length > 0;
    const serving = this.#server === undefined ? "does not listen" : `listens on port ${this.#server.port}`;
    const detail = [
      `${patches.objects} patches (${patches.phase})`,
      certificates.forbidden ? "may not read its certificate" : hasCertificate ? serving : "needs no certificate yet",
      ...(this.#problem === undefined ? [] : [this.#problem]),
    ];
    const ready = patches.healthy && certificates.healthy && (!hasCertificate || this.#server !== undefined);
    return { ready, details: { webhook: detail.join(", ") } };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#cancelRetry();
    await this.#running;
    await this.#loading;
    await this.#server?.close();
    this.#server = undefined;
  }

  /** One after the other: the last certificate is the one that is served. */
  #load(): void {
    this.#cancelRetry();
    this.#loading = this.#loading.then(() => this.#loadNow());
  }

  async #loadNow(): Promise<void> {
    const [secret] = this.#certificates.list();
    if (secret === undefined || this.#stop.signal.aborted) return;
    const problem = await this.#serve(secret);
    const { logger, clock } = this.#options;
    if (problem !== undefined && problem !== this.#problem) logger.warn("the webhook cannot use its certificate", { reason: problem });
    this.#problem = problem;
    if (problem !== undefined && !this.#stop.signal.aborted) this.#cancelRetry = clock.after(RETRY_MS, () => this.#load());
  }

  /** The problem, if there is one; what was served before is still served then. */
  async #serve(secret: KubeObject): Promise<string | undefined> {
    const tls = readServing(secret);
    if (!tls.ok) return tls.error;
    if (this.#server !== undefined) {
      const loaded = this.#server.reloadTls(tls.value);
      return loaded.ok ? undefined : loaded.error;
    }
    const { settings, clock, logger } = this.#options;
    const { host, port } = settings;
    const review = reviewDeployments({ find: (namespace, name) => this.index.find(namespace, name), clock });
    const started = await startAdmissionServer({ ...this.#options, host, port, tls: tls.value, review });
    if (!started.ok) return started.error;
    this.#server = started.value;
    logger.info("the admission webhook listens", { host, port: started.value.port });
    this.wakeup.wake();
    return undefined;
  }
}
