/** The example application: its objects, and the explanation of its one missing agreement. */
import { join } from "node:path";
import { base64OfText, err, ok, type Result } from "#base";
import { formatAnswers, formatGraph, loadWorld, why, type TableWriter } from "#compile";
import { latticeEnvironments, latticeKinds, latticeServices, type LatticeObject } from "#crds";
import { isJsonObject, namespaces, parseYaml, secrets, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { allEdges, splitId, type Edge } from "#mesh-compiler";
import { secretOfPath, SHAREABLE_LABEL } from "#service-compiler";
import type { CliIo } from "../io.ts";
import { readLatticeResources, readPolicies } from "../live-world.ts";
import { applyAll, type AppliedObject } from "./apply-all.ts";
import { MAX_SMALL_FILE, readRegularText } from "../regular-file.ts";
import { terminalTable } from "../terminal/terminal-table.ts";
import { readValid } from "../validate.ts";

const SHOP = "shop";
/** On the Namespace, from the first object of the shop until its last one: what a killed process has begun is applied again. */
const BEGUN_ANNOTATION = "lattice.dev/shop-incomplete";

/** Applied to an empty cluster only, so that later changes are kept. True: it was applied now. */
export async function applyShop(io: CliIo, client: KubeClient): Promise<Result<boolean, string>> {
  const wanted = await isWanted(io, client);
  if (!wanted.ok || !wanted.value) return wanted;
  const folder = join(io.root, "examples", SHOP);
  const objects = await readValid(io, [folder]);
  if (objects === undefined || objects.length === 0) return err(`${folder} is invalid; lattice validate -f ${folder} lists the errors`);
  const made = madeUpSecrets(join(folder, "secrets.example"));
  if (!made.ok) return made;
  const all = [
    shopNamespace({ [BEGUN_ANNOTATION]: "true" }),
    ...made.value,
    ...objects.toSorted(environmentFirst).flatMap(asApplied),
    shopNamespace({}),
  ];
  const applied = await applyAll(client, all);
  return applied.ok ? ok(true) : applied;
}

async function isWanted({ signal }: CliIo, client: KubeClient): Promise<Result<boolean, string>> {
  const place = await client.get<KubeObject>(namespaces, { name: SHOP }, { signal });
  if (!place.ok && place.error.kind !== "not-found") return err(place.error.message);
  if (place.ok && Object.hasOwn(place.value.metadata.annotations ?? {}, BEGUN_ANNOTATION)) return ok(true);
  for (const resource of [latticeEnvironments, latticeServices] as readonly Resource[]) {
    const known = await client.list(resource, { limit: 1 }, { signal });
    if (!known.ok) return err(known.error.message);
    if (known.value.items.length > 0) return ok(false);
  }
  return ok(true);
}

/** An apply removes the annotations of the one before that it does not name. */
function shopNamespace(annotations: Readonly<Record<string, string>>): AppliedObject {
  return { resource: namespaces, object: { apiVersion: "v1", kind: "Namespace", metadata: { name: SHOP, annotations } } };
}

function environmentFirst(a: LatticeObject, b: LatticeObject): number {
  return Number(b.kind === "LatticeEnvironment") - Number(a.kind === "LatticeEnvironment");
}

/** Like `kubectl apply` of a file without a namespace. */
function asApplied(object: LatticeObject): readonly AppliedObject[] {
  const kind = latticeKinds.find((one) => one.kind === object.kind);
  if (kind === undefined) return [];
  const metadata = kind.namespaced ? { namespace: "default", ...object.metadata } : object.metadata;
  return [{ resource: kind.resource, object: { ...object, metadata } }];
}

/** `postgres/products/password` is key `password` of Secret `postgres-products`, where the shop runs. */
function madeUpSecrets(file: string): Result<readonly AppliedObject[], string> {
  const text = readRegularText(file, { bytes: MAX_SMALL_FILE });
  const parsed = text.ok ? parseYaml(text.value) : text;
  if (!parsed.ok) return err(`${file} cannot be read`);
  const values = parsed.value[0];
  const byName = new Map<string, Record<string, string>>();
  for (const [path, value] of Object.entries(isJsonObject(values) ? values : {})) {
    const { name, key } = secretOfPath(path);
    byName.set(name, { ...byName.get(name), [key]: base64OfText(typeof value === "string" ? value : "") });
  }
  return ok(
    [...byName].map(([name, data]) => {
      // the shop's services are written in namespace default
      const metadata = { name, namespace: SHOP, labels: { [SHAREABLE_LABEL]: "default" } };
      const object = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data };
      return { resource: secrets, object };
    }),
  );
}

const INDENT = "    ";

/** A flow that the callee has not declared. */
export type ClosedFlow = Pick<Edge, "caller" | "callee"> & {
  /** The namespace that the callee is declared in. */ readonly declaredIn: string;
};

/** Which service may call which in the cluster, and why the first closed flow is closed. */
export async function explainFlows(
  io: CliIo,
  client: KubeClient,
): Promise<Result<{ readonly text: string; readonly closed: ClosedFlow | undefined }, string>> {
  const resources = await readLatticeResources(client, io.signal);
  const policies = await readPolicies(client, io.signal);
  if (!resources.ok) return resources;
  if (!policies.ok) return policies;
  const { world } = loadWorld(resources.value.value, { placeholderSecrets: true, assumeShareable: true });
  const closed = allEdges(world.mesh.graph).find(({ state }) => state.kind === "caller-only");
  const table = terminalTable(io, INDENT.length);
  const graph = formatGraph(world, "text", { table });
  const reason =
    closed === undefined ? "" : whyClosed(why(world, { from: closed.caller, to: closed.callee }, policies.value.value), { closed, table });
  const flow =
    closed === undefined ? undefined : { ...closed, declaredIn: (world.keyOf(closed.callee) ?? closed.callee).split("/", 1)[0] ?? "" };
  return ok({ text: `Which service may call which (./lattice graph -A):\n\n${indented(graph)}\n${reason}`, closed: flow });
}

function whyClosed(answers: ReturnType<typeof why>, { closed, table }: { readonly closed: Edge; readonly table: TableWriter }): string {
  if (!answers.ok) return "";
  const names = `${splitId(closed.caller).name} ${splitId(closed.callee).name}`;
  return `One agreement is missing. ./lattice why ${names} explains it:\n\n${indented(formatAnswers(answers.value, { table }))}\n`;
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, INDENT);
}
