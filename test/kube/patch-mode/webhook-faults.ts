/** Faults of the admission webhook, each begun and repaired as it happens in a cluster. */
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { base64OfText, expectOk, reveal, systemClock } from "#base";
import { fieldAt, isJsonObject, type JsonObject } from "#kube";
import {
  authoritiesFromSecret,
  authoritiesToSecret,
  createCellAuthorities,
  issueWebhookCertificate,
  type CellAuthorities,
  type KeyPairPem,
} from "#pki";
import { eventually } from "../harness/index.ts";
import { startPatchOperator, type PatchOperator } from "./patch-operator.ts";
import { textOf } from "./written-fields.ts";

/** Begins the fault. The returned function repairs it, and returns the operator that runs then. */
export type WebhookFault = {
  readonly name: string;
  readonly begin: (operator: PatchOperator) => Promise<() => Promise<PatchOperator>>;
};

const YEAR_MS = 366 * 86_400_000;

export const WEBHOOK_FAULTS: readonly WebhookFault[] = [
  { name: "is down", begin: async (operator) => restartAfter(operator, () => Promise.resolve(async () => {})) },
  { name: "accepts connections and does not answer", begin: (operator) => restartAfter(operator, answerNothing) },
  { name: "is called with another authority", begin: (operator) => restartAfter(operator, trustAnother) },
  { name: "serves an expired certificate", begin: (operator) => restartAfter(operator, () => serve(operator, expired)) },
  { name: "serves a certificate of another authority", begin: (operator) => restartAfter(operator, () => serve(operator, foreign)) },
  { name: "is given an expired certificate", begin: (operator) => giveCertificate(operator, expired) },
  { name: "is given a certificate of another authority", begin: (operator) => giveCertificate(operator, foreign) },
  { name: "gets another authority", begin: rotateAuthority },
];

/** Stops the operator, changes something, and starts the operator again as the repair. */
async function restartAfter(operator: PatchOperator, change: (operator: PatchOperator) => Promise<() => Promise<void>>) {
  await operator.stop();
  const undo = await change(operator);
  return async () => {
    await undo();
    return startPatchOperator(operator.server, operator.home);
  };
}

async function answerNothing(operator: PatchOperator): Promise<() => Promise<void>> {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).resume();
  });
  await redirect(operator, silent);
  return () => closed(silent, sockets);
}

/** API servers call this server in place of the operator, which must not run. */
async function redirect(operator: PatchOperator, server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  await changeClientConfig(operator, { url: `https://127.0.0.1:${port}/mutate/deployments` });
}

function closed(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  return new Promise((resolve) => server.close(() => resolve()));
}

async function trustAnother(operator: PatchOperator): Promise<() => Promise<void>> {
  await changeClientConfig(operator, { caBundle: base64OfText(foreignAuthorities().current.certificate) });
  return async () => {};
}

type Issue = (operator: PatchOperator) => Promise<KeyPairPem>;

const expired: Issue = async (operator) => issuedBy(await storedAuthorities(operator), operator, systemClock.now() - YEAR_MS);
const foreign: Issue = (operator) => Promise.resolve(issuedBy(foreignAuthorities(), operator, systemClock.now()));

function issuedBy(authorities: CellAuthorities, { home }: PatchOperator, now: number): KeyPairPem {
  return expectOk(issueWebhookCertificate(authorities, { dnsNames: [`lattice-webhook.${home}.svc`], ipAddresses: ["127.0.0.1"] }, now));
}

/** API servers see the certificate: the address of the webhook is that of a server that has it. The operator finds it when it starts. */
async function serve(operator: PatchOperator, issue: Issue): Promise<() => Promise<void>> {
  const { certificate, key } = await issue(operator);
  await storeCertificate(operator, { certificate, key });
  const sockets = new Set<Socket>();
  const server = createTlsServer({ cert: certificate, key: reveal(key) }).on("tlsClientError", () => {});
  server.on("connection", (socket) => void sockets.add(socket));
  await redirect(operator, server);
  return () => closed(server, sockets);
}

/** The leader notices the certificate, and replaces it. An API server may have an open connection meanwhile, and see nothing of it. */
async function giveCertificate(operator: PatchOperator, issue: Issue) {
  await storeCertificate(operator, await issue(operator));
  return () => Promise.resolve(operator);
}

async function storeCertificate(operator: PatchOperator, { certificate, key }: KeyPairPem): Promise<void> {
  const data = { "tls.crt": base64OfText(certificate), "tls.key": base64OfText(reveal(key)) };
  await patch(operator, secretPath(operator, CERTIFICATE), { data });
}

/**
 * As a rotation leaves it when the successor was promoted, and an hour later, when the successor signs. A restarted operator listens on another port,
 * so that API servers open a connection with the new certificate.
 */
async function rotateAuthority(operator: PatchOperator) {
  const own = await storedAuthorities(operator);
  const rotated = { cell: own.cell, current: foreignAuthorities().current, previous: { ...own.current, retired: systemClock.now() } };
  await patch(operator, secretPath(operator, AUTHORITY), { data: reveal(authoritiesToSecret(rotated)) });
  // the leader looks every hour, and when its configuration changes
  await patch(operator, configurationPath(operator), { metadata: { annotations: { rotated: `${systemClock.now()}` } } });
  await eventually("API servers trust the new authority", async () => {
    const trusted = (await configuredHooks(operator)).map((hook) => textOf(fieldAt(hook, "clientConfig", "caBundle")));
    const wanted = rotated.current.certificate.trim();
    return trusted.every((bundle) => Buffer.from(bundle, "base64").toString().includes(wanted)) || undefined;
  });
  await storeCertificate(operator, issuedBy(rotated, operator, systemClock.now()));
  return async () => {
    await operator.stop();
    return startPatchOperator(operator.server, operator.home);
  };
}

const AUTHORITY = "lattice-admission-ca";
const CERTIFICATE = "lattice-admission-certificate";
const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

const secretPath = ({ home }: PatchOperator, name: string) => `/api/v1/namespaces/${home}/secrets/${name}`;
const foreignAuthorities = () => expectOk(createCellAuthorities("lattice-admission", systemClock.now()));

async function storedAuthorities(operator: PatchOperator): Promise<CellAuthorities> {
  const secret = (await operator.server.request({ path: secretPath(operator, AUTHORITY) })).json();
  return expectOk(authoritiesFromSecret(fieldAt(secret, "data") as Record<string, string>));
}

const configurationPath = ({ home }: PatchOperator) => `${CONFIGURATIONS}/lattice-workload-patches-${home}`;

async function configuredHooks(operator: PatchOperator): Promise<readonly JsonObject[]> {
  const webhooks = fieldAt((await operator.server.request({ path: configurationPath(operator) })).json(), "webhooks");
  const hooks = Array.isArray(webhooks) ? webhooks.filter(isJsonObject) : [];
  if (hooks.length === 0) throw new Error("the operator has not configured its webhook");
  return hooks;
}

async function changeClientConfig(operator: PatchOperator, change: JsonObject): Promise<void> {
  const webhooks = (await configuredHooks(operator)).map((hook) => {
    const clientConfig = fieldAt(hook, "clientConfig");
    return { ...hook, clientConfig: { ...(isJsonObject(clientConfig) ? clientConfig : {}), ...change } };
  });
  await patch(operator, configurationPath(operator), { webhooks });
}

async function patch({ server }: PatchOperator, path: string, body: JsonObject): Promise<void> {
  const { code, text } = await server.request({ method: "PATCH", path, body, contentType: "application/merge-patch+json" });
  if (code !== 200) throw new Error(text);
}
