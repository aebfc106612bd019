/**
 * The authorities of a cell in Secret `lattice-cell-ca`, or those of webhooks in another one. They are created once, by the leader; losing them would cut off all children, so a Secret
 * that cannot be read is never replaced.
 */
import { err, mapErr, ok, reveal, type Clock, type Result } from "#base";
import { fieldAt, isJsonObject, secrets, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { authoritiesFromSecret, authoritiesToSecret, createCellAuthorities, rotateIfDue, type CellAuthorities } from "#pki";

export const CELL_AUTHORITY_SECRET = "lattice-cell-ca";

export type AuthoritySecretOptions = {
  readonly client: KubeClient;
  /** The operator's namespace. */
  readonly home: string;
  /** The name of the cell, or another one for authorities of another purpose. */
  readonly cell: string;
  /** Default: that of a cell. */
  readonly secretName?: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

type StoredAuthorities = { readonly authorities: CellAuthorities; readonly secret: KubeObject };

/** As they have to be now: created if there are none, rotated if that is due. What is returned is stored. */
export async function currentAuthorities(options: AuthoritySecretOptions): Promise<Result<CellAuthorities, string>> {
  const stored = await readOrCreate(options);
  if (!stored.ok) return stored;
  const rotated = rotateIfDue(stored.value.authorities, options.clock.now());
  if (!rotated.ok) return err(rotated.error.message);
  const { authorities, changed } = rotated.value;
  if (!changed) return ok(authorities);
  const { client, signal } = options;
  const next = { ...stored.value.secret, data: reveal(authoritiesToSecret(authorities)) };
  const written = await client.update<KubeObject>(secrets, next, { signal });
  return written.ok ? ok(authorities) : err(`the authority cannot be rotated: ${written.error.message}`);
}

async function readOrCreate(options: AuthoritySecretOptions): Promise<Result<StoredAuthorities, string>> {
  const found = await read(options);
  if (!found.ok) return found;
  if (found.value !== undefined) return ok(found.value);
  const { client, home, cell, clock, signal, secretName = CELL_AUTHORITY_SECRET } = options;
  const made = mapErr(createCellAuthorities(cell, clock.now()), ({ message }) => message);
  if (!made.ok) return made;
  const metadata = { name: secretName, namespace: home, labels: { "app.kubernetes.io/managed-by": "lattice" } };
  const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: reveal(authoritiesToSecret(made.value)) };
  const created = await client.create<KubeObject>(secrets, secret, { signal });
  if (created.ok) return ok({ authorities: made.value, secret: created.value });
  return err(`Secret ${home}/${secretName} cannot be created: ${created.error.message}`);
}

async function read(options: AuthoritySecretOptions): Promise<Result<StoredAuthorities | undefined, string>> {
  const { client, home, cell, signal, secretName = CELL_AUTHORITY_SECRET } = options;
  const found = await client.get<KubeObject>(secrets, { namespace: home, name: secretName }, { signal });
  if (!found.ok) return found.error.kind === "not-found" ? ok(undefined) : err(found.error.message);
  const data = fieldAt(found.value, "data");
  const texts = isJsonObject(data) ? Object.entries(data).flatMap(([key, value]) => (typeof value === "string" ? [[key, value]] : [])) : [];
  const authorities = mapErr(authoritiesFromSecret(Object.fromEntries(texts), secretName), ({ message }) => message);
  if (!authorities.ok) return authorities;
  if (authorities.value.cell === cell) return ok({ authorities: authorities.value, secret: found.value });
  const message = `Secret ${home}/${secretName} is of cell ${authorities.value.cell}, and this cell is ${cell}; its children trust it by that name`;
  return err(message);
}
