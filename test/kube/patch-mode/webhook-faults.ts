/** Faults of the admission webhook, each begun and repaired as it happens in a cluster. */
import { createServer, type Server, type Socket } from "node:net";
import { base64OfText, expectOk, reveal, systemClock } from "#base";
import { fieldAt, isJsonObject, type JsonObject } from "#kube";
import { authoritiesFromSecret, authoritiesToSecret, createCellAuthorities, issueWebhookCertificate, type CellAuthorities } from "#pki";
import { startPatchOperator, type PatchOperator } from "./patch-operator.ts";

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
  { name: "has an expired certificate", begin: (operator) => serveCertificate(operator, systemClock.now() - YEAR_MS) },
  {
    name: "has a certificate of another authority",
    begin: (operator) => serveCertificate(operator, systemClock.now(), foreignAuthorities()),
  },
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
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as { readonly port: number };
  await changeClientConfig(operator, { url: `https://127.0.0.1:${port}/mutate/deployments` });
  return () => closed(silent, sockets);
}

function closed(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  return new Promise((resolve) => server.close(() => resolve()));
}

async function trustAnother(operator: PatchOperator): Promise<() => Promise<void>> {
  await changeClientConfig(operator, { caBundle: base64OfText(foreignAuthorities().current.certificate) });
  return async () => {};
}

/** The leader notices the certificate, and replaces it. */
async function serveCertificate(operator: PatchOperator, now: number, authorities?: CellAuthorities) {
  const names = { dnsNames: [`lattice-webhook.${operator.home}.svc`], ipAddresses: ["127.0.0.1"] };
  const issued = expectOk(issueWebhookCertificate(authorities ?? (await storedAuthorities(operator)), names, now));
  const data = { "tls.crt": base64OfText(issued.certificate), "tls.key": base64OfText(reveal(issued.key)) };
  await patch(operator, secretPath(operator, CERTIFICATE), { data });
  return () => Promise.resolve(operator);
}

/** As a rotation leaves it when the successor was promoted. */
async function rotateAuthority(operator: PatchOperator) {
  const own = await storedAuthorities(operator);
  const rotated = { cell: own.cell, current: foreignAuthorities().current, previous: { ...own.current, retired: systemClock.now() } };
  await patch(operator, secretPath(operator, AUTHORITY), { data: reveal(authoritiesToSecret(rotated)) });
  return () => Promise.resolve(operator);
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

async function changeClientConfig(operator: PatchOperator, change: JsonObject): Promise<void> {
  const path = `${CONFIGURATIONS}/lattice-workload-patches-${operator.home}`;
  const webhooks = fieldAt((await operator.server.request({ path })).json(), "webhooks");
  const [hook] = Array.isArray(webhooks) ? webhooks : [];
  const clientConfig = fieldAt(hook, "clientConfig");
  if (!isJsonObject(hook) || !isJsonObject(clientConfig)) throw new Error("the operator has not configured its webhook");
  await patch(operator, path, { webhooks: [{ ...hook, clientConfig: { ...clientConfig, ...change } }] });
}

async function patch({ server }: PatchOperator, path: string, body: JsonObject): Promise<void> {
  const { code, text } = await server.request({ method: "PATCH", path, body, contentType: "application/merge-patch+json" });
  if (code !== 200) throw new Error(text);
}
