/** `kubectl` of a local machine: what a bootstrap script needs, `get` of one object and server-side `apply` of a file. */
import { err, ok, parseDuration, type Result } from "#base";
import { groupResourceOf, type Resource } from "#kube";
import { applyManifests, ServedKinds, type CallOptions, type KubeClient } from "#kube-client";
import { lastValue, readFlags, type FlagTable, type ReadFlags } from "./flags.ts";
import { openClient, readToolFile, toolPath, type ToolIo } from "./tool-io.ts";

const CAN =
  "kubectl of a local machine can only do: get KIND NAME [-n NAMESPACE] [-o name], and apply --server-side [--force-conflicts] -f FILE, with --kubeconfig and --request-timeout";

const FLAGS: FlagTable = {
  withValue: new Map([
    ["kubeconfig", "kubeconfig"],
    ["namespace", "namespace"],
    ["n", "namespace"],
    ["output", "output"],
    ["o", "output"],
    ["filename", "filename"],
    ["f", "filename"],
    ["field-manager", "field-manager"],
    ["request-timeout", "request-timeout"],
  ]),
  withoutValue: new Map([
    ["server-side", "server-side"],
    ["force-conflicts", "force-conflicts"],
  ]),
};

type Call = { readonly io: ToolIo; readonly flags: ReadFlags; readonly client: KubeClient; readonly call: CallOptions };

export async function kubectl(io: ToolIo, args: readonly string[]): Promise<Result<void, string>> {
  const flags = readFlags(args, FLAGS);
  if (!flags.ok) return err(`${flags.error}: ${CAN}`);
  const run = commandOf(flags.value);
  if (run === undefined) return err(CAN);
  const call = callOptions(io, flags.value);
  if (!call.ok) return call;
  const kubeconfig = lastValue(flags.value, "kubeconfig") ?? io.env["KUBECONFIG"];
  if (kubeconfig === undefined || kubeconfig === "") return err("kubectl of a local machine needs --kubeconfig FILE");
  const client = await openClient(io, toolPath(io, kubeconfig));
  if (!client.ok) return client;
  const done = await run({ io, flags: flags.value, client: client.value, call: call.value });
  await client.value.close();
  return done;
}

function commandOf(flags: ReadFlags): ((call: Call) => Promise<Result<void, string>>) | undefined {
  const [command, ...names] = flags.operands;
  const output = lastValue(flags, "output");
  if (output !== undefined && output !== "name") return undefined;
  if (command === "get") {
    const [kind = "", name = "", ...more] = names.flatMap((text, at) => (at === 0 && names.length === 1 ? text.split("/") : [text]));
    return kind === "" || name === "" || more.length > 0 ? undefined : (call) => getObject(call, kind, name);
  }
  const isApply = command === "apply" && names.length === 0 && lastValue(flags, "server-side") !== undefined;
  return isApply && lastValue(flags, "filename") !== undefined ? applyFile : undefined;
}

/** Time limits as kubectl writes them: "5s", or a number of seconds. 0: none. */
function callOptions(io: ToolIo, flags: ReadFlags): Result<CallOptions, string> {
  const text = lastValue(flags, "request-timeout") ?? "0";
  const limit = parseDuration(/^[0-9]+$/.test(text) && text !== "0" ? `${text}s` : text);
  if (!limit.ok) return err(`--request-timeout: ${limit.error}`);
  return ok({ signal: io.signal, ...(limit.value === 0 ? {} : { timeoutMs: limit.value }) });
}

async function getObject({ io, flags, client, call }: Call, kind: string, name: string): Promise<Result<void, string>> {
  const resource = await new ServedKinds(client, call).byName(kind);
  if (!resource.ok) return resource;
  if (resource.value === undefined) return err(`the server doesn't have a resource type "${kind}"`);
  const key = resource.value.namespaced ? { name, namespace: lastValue(flags, "namespace") ?? "default" } : { name };
  const found = await client.get(resource.value, key, call);
  if (!found.ok) return err(found.error.message);
  io.stdout(lastValue(flags, "output") === "name" ? `${shownName(resource.value, name)}\n` : `NAME\n${name}\n`);
  return ok(undefined);
}

async function applyFile({ io, flags, client, call }: Call): Promise<Result<void, string>> {
  const text = readToolFile(io, lastValue(flags, "filename") ?? "");
  if (!text.ok) return text;
  return applyManifests(text.value, {
    client,
    call,
    force: lastValue(flags, "force-conflicts") !== undefined,
    fieldManager: lastValue(flags, "field-manager") ?? "kubectl",
    namespace: lastValue(flags, "namespace") ?? "default",
    clock: io.clock,
    onApplied: (resource, name) => io.stdout(`${shownName(resource, name)} serverside-applied\n`),
  });
}

/** "deployment.apps/web" */
function shownName(resource: Resource, name: string): string {
  return `${groupResourceOf({ ...resource, plural: resource.kind.toLowerCase() })}/${name}`;
}
