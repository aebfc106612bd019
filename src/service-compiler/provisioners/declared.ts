/**
 * A resource type declared as data, so that users can add one without a fork: its outputs, computed from its params, and which of
 * them come from the secret store.
 */
import { err, ok, type Result } from "#base";
import { field, isJsonObject, parseYaml, type Json, type KubeObject } from "#kube";
import { fields, missing, plain, renderText, scopeOf, type TemplateNamespace, type TemplateScope, type Value } from "../templates/index.ts";
import { hidden } from "./outputs.ts";
import { problem, type Param, type Params } from "./params.ts";
import type { ResourceOutput, PeerAddress, Provisioner, ResourceProblem, ProvisionRequest } from "./provisioner.ts";

export const PROVISIONER_LABEL = "lattice.dev/provisioner";
const DATA_KEY = "provisioner.yaml";

type DeclaredOutput = { readonly from: "value" | "secret"; readonly template: string; readonly sensitive: boolean };
type Declared = {
  readonly type: string;
  readonly params: ReadonlyMap<string, string>;
  readonly outputs: ReadonlyMap<string, DeclaredOutput>;
  readonly peer: { readonly name: string; readonly port: string } | undefined;
};

/** Parses a ConfigMap with the label; undefined: a ConfigMap without it. */
export function declaredProvisioner(configMap: KubeObject): Result<Provisioner, string> | undefined {
  if (configMap.kind !== "ConfigMap" || configMap.metadata.labels?.[PROVISIONER_LABEL] === undefined) return undefined;
  const where = `ConfigMap ${configMap.metadata.namespace ?? "default"}/${configMap.metadata.name}`;
  const text = field((configMap as { data?: Json }).data, DATA_KEY);
  if (typeof text !== "string") return err(`${where}: it has the label ${PROVISIONER_LABEL} but no ${DATA_KEY}`);
  const read = parseYaml(text);
  if (!read.ok) return err(`${where}: ${DATA_KEY}: ${read.error.message}`);
  const declared = readDeclared(read.value[0] ?? null);
  return declared.ok ? ok(provisionerOf(declared.value)) : err(`${where}: ${DATA_KEY}: ${declared.error}`);
}

function readDeclared(value: Json): Result<Declared, string> {
  const type = field(value, "type");
  if (typeof type !== "string" || !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(type))
    return err("type must be a name in kebab-case, such as s3-bucket");
  const outputs = new Map<string, DeclaredOutput>();
  const given = field(value, "outputs");
  if (!isJsonObject(given) || Object.keys(given).length === 0) return err("outputs must have at least one entry");
  for (const [name, output] of Object.entries(given)) {
    const one = readOutput(output ?? null);
    if (one === undefined) return err(`outputs.${name} must be a text, {value: …} or {secret: PATH}`);
    outputs.set(name, one);
  }
  const peer = readPeer(field(value, "peer"));
  if (!peer.ok) return peer;
  return ok({ type, params: textsIn(field(value, "params")), outputs, peer: peer.value });
}

function readOutput(output: Json): DeclaredOutput | undefined {
  if (typeof output === "string") return { from: "value", template: output, sensitive: false };
  const [value, path] = [field(output, "value"), field(output, "secret")];
  if (typeof path === "string" && value === undefined) return { from: "secret", template: path, sensitive: true };
  return typeof value === "string" && path === undefined
    ? { from: "value", template: value, sensitive: field(output, "sensitive") === true }
    : undefined;
}

function readPeer(peer: Json | undefined): Result<Declared["peer"], string> {
  if (peer === undefined) return ok(undefined);
  const [name, port] = [field(peer, "name"), field(peer, "port")];
  if (typeof name !== "string" || (typeof port !== "string" && typeof port !== "number")) return err("peer must have a name and a port");
  return ok({ name, port: String(port) });
}

function textsIn(value: Json | undefined): ReadonlyMap<string, string> {
  const entries = Object.entries(isJsonObject(value) ? value : {});
  return new Map(entries.map(([name, text]) => [name, typeof text === "string" ? text : JSON.stringify(text)]));
}

function provisionerOf(declared: Declared): Provisioner {
  return {
    type: declared.type,
    ...knownParams(declared),
    provision: (request) => {
      const scope = scopeFor(declared, request);
      const outputs = new Map<string, ResourceOutput>(
        [...declared.outputs].map(([name, output]) => [name, () => valueOf(output, request, scope)]),
      );
      const peer = peerOf(declared, request, scope);
      if (!peer.ok) return peer;
      return ok({ outputs, ...(peer.value === undefined ? {} : { peer: peer.value }) });
    },
  };
}

/** Params with a default, and those that a template reads. A type without any accepts all params. */
function knownParams({ params, outputs, peer }: Declared): Pick<Provisioner, "params"> {
  const templates = [...[...outputs.values()].map(({ template }) => template), ...(peer === undefined ? [] : [peer.name, peer.port])];
  const read = templates.flatMap((template) => [...template.matchAll(/\$\{params\.([^}]+)\}/g)].map(([, name = ""]) => name));
  const known = new Set([...params.keys(), ...read.map((name) => name.replaceAll("\\.", "."))]);
  return known.size === 0 ? {} : { params: [...known] };
}

function scopeFor({ params }: Declared, { name, address, class: variant, params: given, surroundings }: ProvisionRequest): TemplateScope {
  const resource = new Map([
    ["name", name],
    ["id", address.name],
    ["namespace", address.namespace],
    ["class", variant],
  ]);
  return scopeOf([
    ["resource", fields("resource", resource, "set it in the resource")],
    ["params", paramsNamespace(params, given)],
    ["cluster", fields("cluster", new Map([["domain", surroundings.clusterDomain]]), "")],
  ]);
}

function paramsNamespace(defaults: ReadonlyMap<string, string>, given: Params): TemplateNamespace {
  return (rest) => {
    const name = rest.join(".");
    const param = given.get(name);
    const value = param === undefined ? defaults.get(name) : undefined;
    if (param !== undefined) return ok({ value: textOf(param), source: `params.${name}` });
    return value === undefined
      ? missing(`params.${name} is not given, and has no default`)
      : ok({ value: plain(value), source: `params.${name}` });
  };
}

function textOf(param: Param): Value {
  return param.kind === "text" ? param.value : plain(typeof param.json === "string" ? param.json : JSON.stringify(param.json));
}

function valueOf(
  { from, template, sensitive }: DeclaredOutput,
  request: ProvisionRequest,
  scope: TemplateScope,
): Result<Value, ResourceProblem> {
  const rendered = renderText(template, scope);
  if (!rendered.ok) return problem(rendered.error.map(({ message }) => message).join("; "));
  const { value } = rendered.value;
  if (from === "value") return ok(sensitive ? hidden(value) : value);
  if (value.kind !== "plain") return problem("the path of a secret must not be sensitive itself");
  const found = request.surroundings.readSecret(value.text);
  return found.ok ? ok(hidden(found.value)) : problem(found.error);
}

function peerOf({ peer }: Declared, { address }: ProvisionRequest, scope: TemplateScope): Result<PeerAddress | undefined, ResourceProblem> {
  if (peer === undefined) return ok(undefined);
  const [name, port] = [renderText(peer.name, scope), renderText(peer.port, scope)];
  if (!name.ok || !port.ok)
    return problem([name, port].flatMap((part) => (part.ok ? [] : part.error.map(({ message }) => message))).join("; "));
  const [nameText, portText] = [name.value.value, port.value.value];
  if (nameText.kind !== "plain" || portText.kind !== "plain") return problem("peer must not be sensitive");
  const number = /^[0-9]{1,5}$/.test(portText.text) ? Number(portText.text) : 0;
  if (number < 1 || number > 65_535) return problem(`peer.port is ${JSON.stringify(portText.text)}; it must be a port`);
  return ok({ address: { namespace: address.namespace, name: nameText.text }, port: number });
}
