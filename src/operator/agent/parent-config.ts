/** Secret `lattice-parent-config`: how an agent reaches its parent. Written when the cluster registers; read here, field by field. */
import { andThen, bytesOfBase64, err, ok, sensitive, textOfBytes, type Result, type Sensitive } from "#base";
import { PARENT_CONFIG_SECRET } from "#controllers";
import { fieldAt, type KubeObject } from "#kube";

export type ParentConfig = {
  /** The parent's name. */
  readonly cell: string;
  /** `host:port` of its agents' port. */
  readonly endpoint: string;
  /** `https://host:port` of its bootstrap port. */
  readonly bootstrap: string;
  /** PEM: the authorities of the cell when the cluster registered. */
  readonly trustBundle: string;
  readonly csrToken: Sensitive<string>;
};

export function parseParentConfig(secret: KubeObject): Result<ParentConfig, string> {
  const texts = new Map<string, string>();
  for (const name of ["cell", "endpoint", "bootstrap", "ca.crt", "csr-token"]) {
    const text = secretText(secret, name);
    if (text === undefined || text === "")
      return err(`Secret ${PARENT_CONFIG_SECRET}: ${name} is missing; bootstrap the cluster again from its parent`);
    texts.set(name, text);
  }
  const read = (name: string) => texts.get(name) ?? "";
  const bootstrap = URL.parse(read("bootstrap"));
  if (bootstrap?.protocol !== "https:" || bootstrap.pathname !== "/")
    return err(`Secret ${PARENT_CONFIG_SECRET}: bootstrap must be https://host:port`);
  if (!/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}$/.test(read("endpoint")))
    return err(`Secret ${PARENT_CONFIG_SECRET}: endpoint must be host:port`);
  return ok({
    cell: read("cell"),
    endpoint: read("endpoint"),
    bootstrap: bootstrap.origin,
    trustBundle: read("ca.crt"),
    csrToken: sensitive(read("csr-token")),
  });
}

/** A value of a Secret as text; undefined: there is none, or it is no text. */
export function secretText(secret: KubeObject, name: string): string | undefined {
  const value = fieldAt(secret, "data", name);
  const text = typeof value === "string" ? andThen(bytesOfBase64(value), textOfBytes) : undefined;
  return text?.ok === true ? text.value : undefined;
}
