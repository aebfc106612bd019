/** A cell for tests: an embedded API server, records in it, the bootstrap server on a real TLS listener, and a fake authority. */
import { randomBytes } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import { request, type RequestOptions } from "node:https";
import {
  createLogger,
  err,
  expectOk,
  FakeClock,
  MetricsRegistry,
  ok,
  reveal,
  sha256Hex,
  systemClock,
  type Clock,
  type LogFields,
  type Result,
} from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { field, namespaces, parseJson, type Json } from "#kube";
import { authority, issue } from "../../../test/builders/loopback-servers.ts";
import { BOOTSTRAP_LIMITS, type BootstrapLimits } from "./limits.ts";
import type { CertificateSigner, IssuedCertificate, SignError } from "./ports.ts";
import type { BootstrapReport } from "./cluster-access.ts";
import { Registrations } from "./registrations.ts";
import { startBootstrapServer, type BootstrapServer } from "./server.ts";

export const DAY = 86_400_000;
export const NAMESPACE = "lattice-system";

/** A request in the form that the fake authority reads. `asked`: a name that the authority ignores. */
export function csrOf(key: string, asked = ""): string {
  const content = Buffer.from(JSON.stringify({ key, asked })).toString("base64");
  return `-----BEGIN CERTIFICATE REQUEST-----\n${content}\n-----END CERTIFICATE REQUEST-----\n`;
}

export function renewalOf(cluster: string, serial: string, csr: string, signature = `signed by ${serial}`): string {
  return JSON.stringify({ cluster, serial, csr, signature });
}

function textIn(value: Json, name: string): string {
  const found = field(value, name);
  return typeof found === "string" ? found : "";
}

const FORM = /^-----BEGIN CERTIFICATE REQUEST-----\n([A-Za-z0-9+/=]+)\n-----END CERTIFICATE REQUEST-----\n$/;

export class FakeAuthority implements CertificateSigner {
  readonly signed: IssuedCertificate[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly keyHashOf = (csrPem: string): Result<string, SignError> => {
    const content = FORM.exec(csrPem)?.[1];
    const json = content === undefined ? undefined : parseJson(Buffer.from(content, "base64").toString());
    const key = json?.ok === true ? field(json.value, "key") : undefined;
    return typeof key === "string" ? ok(sha256Hex(key)) : err({ kind: "invalid-csr", message: "the request is not valid" });
  };

  readonly sign = (cluster: string, csrPem: string): Result<IssuedCertificate, SignError> => {
    const keyHash = this.keyHashOf(csrPem);
    if (!keyHash.ok) return keyHash;
    const serial = (this.signed.length + 0x1000).toString(16).toUpperCase();
    const certificate = `certificate ${serial} of ${cluster}`;
    const notAfter = this.#clock.now() + 30 * DAY;
    const issued = { certificate, serial, notAfter, keyHash: keyHash.value, trustBundle: "bundle" };
    this.signed.push(issued);
    return ok(issued);
  };

  readonly verifyRenewal: CertificateSigner["verifyRenewal"] = (cluster, text) => {
    const json = parseJson(text);
    const read = (name: string) => (json.ok ? textIn(json.value, name) : "");
    const isGood = read("cluster") === cluster && read("signature") === `signed by ${read("serial")}`;
    return isGood ? ok({ csr: read("csr"), serial: read("serial") }) : err({ kind: "refused", message: "the renewal is not signed" });
  };
}

/** `jump` changes the time without firing timers: those of informers would be thousands in a month. */
export class JumpingClock extends FakeClock {
  #ahead = 0;

  override now(): number {
    return super.now() + this.#ahead;
  }

  override monotonic(): number {
    return super.monotonic() + this.#ahead;
  }

  jump(ms: number): void {
    this.#ahead += ms;
  }
}

export type LogLine = { readonly level: string; readonly message: string; readonly fields: LogFields };

export type BootstrapWorld = {
  readonly cluster: EmbeddedCluster;
  readonly clock: JumpingClock;
  readonly registrations: Registrations;
  readonly signer: FakeAuthority;
  readonly lines: LogLine[];
  readonly metrics: MetricsRegistry;
  readonly rendered: string[];
  readonly reports: (BootstrapReport & { readonly cluster: string })[];
  /** A second cell process on the same API server: after a crash of the first. */
  readonly restart: () => Promise<Registrations>;
  readonly close: () => Promise<void>;
};

export async function openWorld(): Promise<BootstrapWorld> {
  const clock = new JumpingClock();
  const cluster = await startEmbeddedCluster({ clock });
  expectOk(await cluster.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }));
  const lines: LogLine[] = [];
  const logger = createLogger((level, message, fields) => void lines.push({ level, message, fields }));
  const metrics = new MetricsRegistry();
  const signer = new FakeAuthority(clock);
  const rendered: string[] = [];
  const opened: Registrations[] = [];
  const restart = async () => {
    const registrations = new Registrations({
      client: cluster.client,
      namespace: NAMESPACE,
      clock,
      random: () => 0.5,
      logger,
      metrics,
      signer,
      randomBytes,
      manifests: async (name, csrToken) => {
        rendered.push(name);
        if (name === "bug") throw new Error("a bug in a test");
        if (name === "unrendered") return err("the bundle has no manifests for this version");
        return ok(`# manifests of ${name}\ncsr-token: ${csrToken}\n`);
      },
    });
    opened.push(registrations);
    await registrations.open(new AbortController().signal);
    return registrations;
  };
  const registrations = await restart();
  const close = async () => {
    for (const one of opened) await one.close();
    await cluster.close();
  };
  return { cluster, clock, registrations, signer, lines, metrics, rendered, reports: [], restart, close };
}

export async function serveWorld(
  world: BootstrapWorld,
  limits: Partial<BootstrapLimits> = {},
  registrations = world.registrations,
): Promise<BootstrapServer> {
  const { clock, lines, metrics, reports } = world;
  const server = await startBootstrapServer({
    host: "127.0.0.1",
    port: 0,
    tls: issue(authority, "cell", "server"),
    registrations,
    onReport: (name, report) => void reports.push({ cluster: name, ...report }),
    // rates on the test's clock; connections on the system's
    clock: { ...systemClock, now: () => clock.now(), monotonic: () => clock.monotonic(), after: (ms, run) => systemClock.after(ms, run) },
    logger: createLogger((level, message, fields) => void lines.push({ level, message, fields })),
    metrics,
    limits: { ...limits, listener: { ...BOOTSTRAP_LIMITS.listener, lingerMs: 50, ...limits.listener } },
  });
  return expectOk(server);
}

export type PostAnswer = { readonly status: number; readonly headers: Record<string, unknown>; readonly text: string };
export type Post = {
  readonly token?: string;
  readonly body?: string | Uint8Array;
  readonly more?: Omit<RequestOptions, "headers"> & { readonly headers?: OutgoingHttpHeaders };
};

/** Status 0: the connection ended without an answer. */
export function post(port: number, path: string, { token, body, more = {} }: Post = {}): Promise<PostAnswer> {
  const headers = { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...more.headers };
  return new Promise((resolve) => {
    const options = { port, path, method: "POST", host: "127.0.0.1", ca: authority.certificate, agent: false, ...more, headers };
    const sent = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("close", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    sent.on("error", (error) => resolve({ status: 0, headers: {}, text: error.message }));
    sent.end(body);
  });
}

/** A cluster with fresh tokens. */
export async function newChild({ registrations, clock }: BootstrapWorld, name: string) {
  const created = expectOk(await registrations.createAccess(name, { expiresAt: clock.now() + DAY }));
  const { bootstrapToken, proxyToken } = created;
  if (bootstrapToken === undefined || proxyToken === undefined) throw new Error(`${name} exists`);
  return { name, bootstrap: reveal(bootstrapToken), proxy: reveal(proxyToken) };
}

export function csrTokenIn(manifests: string): string {
  return /csr-token: (\S+)/.exec(manifests)?.[1] ?? "";
}

export function certificateIn(answer: PostAnswer): string {
  const json = parseJson(answer.text);
  return json.ok ? textIn(json.value, "certificate") : "";
}

export function serialIn(answer: PostAnswer): string {
  return certificateIn(answer).split(" ")[1] ?? "";
}

/** The whole way of a child: register, csr. */
export async function bootstrap(world: BootstrapWorld, port: number, name: string, key = `key of ${name}`) {
  const child = await newChild(world, name);
  const registered = await post(port, "/api/clusters/register", { token: child.bootstrap });
  const csr = csrTokenIn(registered.text);
  const signed = await post(port, `/api/clusters/${name}/csr`, { token: csr, body: csrOf(key) });
  return { ...child, csr, registered, signed, serial: serialIn(signed) };
}
