/**
 * The managers of Cluster API that came with the bundle, as processes: the story is kubelet, DNS and service proxy of a control plane that has none.
 * Each runs with the token of its ServiceAccount, the arguments for features of its Deployment and the webhook certificate of its Secret, so a right
 * that the bundle does not give, or a certificate that the API server does not trust, stops it.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { expectOk } from "#base";
import { fieldAt, parseJson, type Json, type KubeObject } from "#kube";
import { eventually } from "../harness/eventually.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import type { PlaneAccess } from "../harness/index.ts";
import { ProcessGroup } from "../harness/process-group.ts";
import { MANAGERS, type Manager } from "./managers.ts";
import { tokenKubeconfig } from "./operator-pod.ts";

export type DeliveredManagers = {
  /** The lines of all logs that match. */
  readonly logged: (pattern: RegExp) => readonly string[];
  /** Ends one with SIGKILL, and starts it again. */
  readonly restart: (binary: Manager["binary"]) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type DeliveredOptions = { readonly plane: PlaneAccess; readonly binaries: string; /** Must not exist. */ readonly folder: string };

type Ports = { readonly webhook: number; readonly health: number; readonly diagnostics: number };

const READY_MS = 180_000;

export async function runDeliveredManagers(options: DeliveredOptions): Promise<DeliveredManagers> {
  const { folder } = options;
  const group = expectOk(await ProcessGroup.open(folder));
  const ports = new Map<string, Ports>();
  for (const { namespace } of MANAGERS) {
    const [webhook = 0, health = 0, diagnostics = 0] = expectOk(await findFreePorts(3));
    ports.set(namespace, { webhook, health, diagnostics });
  }
  const portOf = (namespace: string) => ports.get(namespace) ?? expect.fail(`no manager runs in ${namespace}`);
  await routeWebhooks(options.plane, (namespace) => portOf(namespace).webhook);
  const start = async (manager: Manager) => {
    const program = await programOf(manager, portOf(manager.namespace), options);
    await group.start({ name: manager.binary, ...program, log: join(folder, `${manager.binary}.log`) });
  };
  const untilReady = ({ binary, namespace }: Manager) =>
    eventually(`${binary} is ready`, async () => (await fetch(`http://127.0.0.1:${portOf(namespace).health}/readyz`)).ok || undefined, {
      withinMs: READY_MS,
    });
  for (const manager of MANAGERS) await start(manager);
  for (const manager of MANAGERS) await untilReady(manager);
  return {
    logged: (pattern) =>
      MANAGERS.flatMap(({ binary }) => readFileSync(join(folder, `${binary}.log`), "utf8").split("\n")).filter((line) =>
        pattern.test(line),
      ),
    restart: async (binary) => {
      const manager = MANAGERS.find((one) => one.binary === binary) ?? expect.fail(binary);
      await group.stop(binary, 0);
      await start(manager);
      await untilReady(manager);
    },
    close: () => group.close(),
  };
}

async function programOf(manager: Manager, ports: Ports, { plane, binaries, folder }: DeliveredOptions) {
  const { binary, namespace } = manager;
  const listed = expectOk(parseJson(await plane.kubectlOk(["get", "deployments", "-n", namespace, "-o", "json"])));
  const pod = fieldAt((fieldAt(listed, "items") as readonly Json[])[0], "spec", "template", "spec");
  const account = fieldAt(pod, "serviceAccountName") as string;
  const token = (await plane.kubectlOk(["create", "token", account, "-n", namespace, "--duration=4h"])).trim();
  const kubeconfig = join(folder, `${binary}.kubeconfig`);
  writeFileSync(kubeconfig, tokenKubeconfig(plane, token), { mode: 0o600 });
  const certificates = join(folder, `${binary}-certificates`);
  mkdirSync(certificates, { recursive: true, mode: 0o700 });
  const volumes = fieldAt(pod, "volumes") as readonly Json[];
  const secret = volumes.map((volume) => fieldAt(volume, "secret", "secretName")).find((name) => typeof name === "string");
  for (const file of ["tls.crt", "tls.key"]) {
    const path = `jsonpath={.data.${file.replace(".", "\\.")}}`;
    const text = await plane.kubectlOk(["get", "secret", secret ?? "", "-n", namespace, "-o", path]);
    writeFileSync(join(certificates, file), Buffer.from(text, "base64"), { mode: 0o600 });
  }
  const container = (fieldAt(pod, "containers") as readonly Json[])[0];
  const args = (fieldAt(container, "args") as readonly string[]).filter((arg) => arg.startsWith("--feature-gates="));
  const inMemory = expectOk(await findFreePorts(1))[0] ?? 0;
  const settings = [
    `POD_NAMESPACE=${namespace}`,
    `POD_NAME=${binary}`,
    "POD_IP=127.0.0.1",
    `INMEMORY_MIN_PORT=${inMemory + 1}`,
    "DOCKER_HOST=unix:///nonexistent.sock",
  ];
  const flags = [
    ...args,
    `--kubeconfig=${kubeconfig}`,
    `--webhook-port=${ports.webhook}`,
    `--webhook-cert-dir=${certificates}`,
    `--health-addr=127.0.0.1:${ports.health}`,
    `--diagnostics-address=127.0.0.1:${ports.diagnostics}`,
    "--insecure-diagnostics=true",
  ];
  return { path: "/usr/bin/env", args: [...settings, join(binaries, binary), ...flags] };
}

/** Services of webhooks lead to this machine, and the API server calls the port of the process. Names and authorities in certificates stay. */
async function routeWebhooks(plane: PlaneAccess, portOf: (namespace: string) => number): Promise<void> {
  const list = async (what: string): Promise<readonly KubeObject[]> =>
    (fieldAt(expectOk(parseJson(await plane.kubectlOk(["get", what, "-A", "-o", "json"]))), "items") as unknown as readonly KubeObject[]) ??
    [];
  for (const { metadata } of (await list("services")).filter(({ metadata: { namespace = "" } }) =>
    MANAGERS.some((one) => one.namespace === namespace),
  )) {
    const spec = { type: "ExternalName", externalName: "127.0.0.1", clusterIP: null, clusterIPs: null, selector: null };
    await plane.kubectlOk([
      "patch",
      "service",
      metadata.name,
      "-n",
      metadata.namespace ?? "",
      "--type=merge",
      "-p",
      JSON.stringify({ spec }),
    ]);
  }
  const route = async (path: string, calls: readonly (readonly [string, Json | undefined])[]) => {
    const body = calls.flatMap(([at, config]) => {
      const namespace = fieldAt(config, "service", "namespace");
      return typeof namespace === "string" ? [{ op: "add", path: `${at}/clientConfig/service/port`, value: portOf(namespace) }] : [];
    });
    if (body.length === 0) return;
    const answer = await plane.request({ method: "PATCH", path, body, contentType: "application/json-patch+json" });
    expect(answer.code, answer.text).toBe(200);
  };
  for (const kind of ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"]) {
    for (const { metadata, ...rest } of await list(kind)) {
      const webhooks = fieldAt(rest, "webhooks") as readonly Json[];
      const calls = webhooks.map((webhook, at) => [`/webhooks/${at}`, fieldAt(webhook, "clientConfig")] as const);
      await route(`/apis/admissionregistration.k8s.io/v1/${kind}/${metadata.name}`, calls);
    }
  }
  for (const crd of await list("customresourcedefinitions")) {
    const config = fieldAt(crd, "spec", "conversion", "webhook", "clientConfig");
    if (config !== undefined)
      await route(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`, [["/spec/conversion/webhook", config]]);
  }
}
