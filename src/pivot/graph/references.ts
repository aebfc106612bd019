/**
 * References that are no owner references, but without which a moved object does not work: the identity and the credentials of an
 * infrastructure object, and Secrets with files of bootstrap data. Pure.
 */
import { field, fieldAt, type KubeObject } from "#kube";

export type ObjectReference = {
  readonly kind: string;
  readonly name: string;
  /** Absent: of the object that has the reference, or a cluster-scoped object, or a Secret beside the provider. */
  readonly namespace?: string;
  /** The field, for messages. */
  readonly at: string;
};

const INFRASTRUCTURE = /^infrastructure\./;
const BOOTSTRAP = /^(?:bootstrap|controlplane)\./;

type WithVersion = Pick<KubeObject, "apiVersion">;

export function referencesOf(object: WithVersion): readonly ObjectReference[] {
  const group = object.apiVersion.split("/")[0] ?? "";
  if (INFRASTRUCTURE.test(group)) return credentialsOf(object);
  return BOOTSTRAP.test(group) ? fileSecretsOf(object) : [];
}

/** Of the spec of an infrastructure object. */
export const CREDENTIAL_FIELDS = ["identityRef", "credentialsRef", "secretRef", "clientSecret"] as const;

function credentialsOf(object: WithVersion): readonly ObjectReference[] {
  const spec = field(object, "spec");
  return CREDENTIAL_FIELDS.flatMap((name) => {
    const value = field(spec, name);
    const at = `spec.${name}`;
    if (typeof value === "string" && value !== "") return [{ kind: "Secret", name: value, at }];
    return referenceOf(value, at);
  });
}

function referenceOf(value: unknown, at: string): readonly ObjectReference[] {
  const [name, kind, namespace] = [field(value, "name"), field(value, "kind"), field(value, "namespace")];
  if (typeof name !== "string" || name === "") return [];
  const place = typeof namespace === "string" && namespace !== "" ? { namespace } : {};
  return [{ kind: typeof kind === "string" && kind !== "" ? kind : "Secret", name, ...place, at }];
}

/** Of the spec of a KubeadmConfig, a template of one, and a control plane. */
export const FILE_LISTS = [["files"], ["template", "spec", "files"], ["kubeadmConfigSpec", "files"]];

function fileSecretsOf(object: WithVersion): readonly ObjectReference[] {
  return FILE_LISTS.flatMap((path) => {
    const files = fieldAt(object, "spec", ...path);
    if (!Array.isArray(files)) return [];
    const at = `spec.${path.join(".")}[].contentFrom.secret`;
    return files.flatMap((file) => referenceOf(fieldAt(file, "contentFrom", "secret"), at));
  });
}
