/** The files and users of a KubeadmConfig, with contents from Secrets filled in. */
import { err, ok, type Result } from "#base";
import { secrets, type Json } from "#kube";
import type { CapiWork } from "../capi-work.ts";
import { flagAt, listAt, objectAt, textAt, type CapiObject } from "../objects.ts";
import { secretText } from "../secret-data.ts";
import type { CloudFile } from "./cloud-config.ts";

/** The error names the Secret and the key, never the content. */
export async function userFiles(work: CapiWork, config: CapiObject): Promise<Result<readonly CloudFile[], string>> {
  const files: CloudFile[] = [];
  for (const file of listAt(config, "spec", "files")) {
    const content = await contentOf(work, config, file);
    if (!content.ok) return content;
    files.push({
      path: textAt(file, "path") ?? "",
      content: content.value,
      owner: textAt(file, "owner"),
      permissions: textAt(file, "permissions"),
      encoding: textAt(file, "encoding"),
      append: flagAt(file, "append"),
    });
  }
  return ok(files);
}

async function contentOf(work: CapiWork, config: CapiObject, file: Json): Promise<Result<string, string>> {
  const name = textAt(file, "contentFrom", "secret", "name");
  if (name === undefined) return ok(textAt(file, "content") ?? "");
  return secretValue(work, config, { name, key: textAt(file, "contentFrom", "secret", "key") ?? "" });
}

async function secretValue(
  work: CapiWork,
  config: CapiObject,
  { name, key }: { readonly name: string; readonly key: string },
): Promise<Result<string, string>> {
  const read = await work.client.get(secrets, { namespace: config.metadata.namespace, name });
  if (!read.ok)
    return err(read.error.kind === "not-found" ? `secret not found: ${config.metadata.namespace ?? ""}/${name}` : read.error.message);
  const text = secretText(read.value, key);
  return text === undefined ? err(`secret references non-existent secret key: "${key}"`) : ok(text);
}

/** The names of cloud-init for the fields of a user. */
const USER_FIELDS: readonly (readonly [field: string, name: string])[] = [
  ["name", "name"],
  ["passwd", "passwd"],
  ["gecos", "gecos"],
  ["groups", "groups"],
  ["homeDir", "homedir"],
  ["inactive", "inactive"],
  ["lockPassword", "lock_passwd"],
  ["shell", "shell"],
  ["primaryGroup", "primary_group"],
  ["sudo", "sudo"],
  ["sshAuthorizedKeys", "ssh_authorized_keys"],
];

export async function cloudUsers(work: CapiWork, config: CapiObject): Promise<Result<readonly Json[], string>> {
  const users: Json[] = [];
  for (const user of listAt(config, "spec", "users")) {
    const from = objectAt(user, "passwdFrom", "secret");
    const name = textAt(from, "name");
    const password = name === undefined ? ok(undefined) : await secretValue(work, config, { name, key: textAt(from, "key") ?? "" });
    if (!password.ok) return password;
    const fields = USER_FIELDS.flatMap(([field, to]) =>
      objectAt({ user }, "user")[field] === undefined ? [] : [[to, objectAt({ user }, "user")[field] ?? null] as const],
    );
    users.push({ ...Object.fromEntries(fields), ...(password.value === undefined ? {} : { passwd: password.value }) });
  }
  return ok(users);
}
