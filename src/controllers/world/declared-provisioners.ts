/**
 * Resource types that ConfigMaps declare. Only those in the operator's own namespace count: every service of the cluster can use a type,
 * and a tenant must not be able to change the meaning of `postgres` for others.
 */
import type { Logger } from "#base";
import { declaredProvisioner, PROVISIONER_LABEL, type Provisioner } from "#service-compiler";
import type { KubeObject, ObjectKey } from "#kube";

export class DeclaredProvisioners {
  readonly #namespace: string;
  readonly #logger: Logger;
  readonly #byName = new Map<string, Provisioner>();

  constructor(namespace: string, logger: Logger) {
    this.#namespace = namespace;
    this.#logger = logger;
  }

  /** All of them, in an order that does not depend on the order of their creation. */
  list(): readonly Provisioner[] {
    return [...this.#byName].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, provisioner]) => provisioner);
  }

  /** The types that the ConfigMap declared before or declares now; each may have changed. */
  change(key: ObjectKey, after: KubeObject | undefined): ReadonlySet<string> {
    const before = this.#byName.get(key.name);
    if (key.namespace !== this.#namespace) return new Set();
    const declared = after?.metadata.labels?.[PROVISIONER_LABEL] === undefined ? undefined : declaredProvisioner(after);
    if (declared?.ok === true) this.#byName.set(key.name, declared.value);
    else this.#byName.delete(key.name);
    if (declared?.ok === false)
      this.#logger.warn("a provisioner is not understood and not used", { configMap: key.name, why: declared.error });
    const types = [before?.type, declared?.ok === true ? declared.value.type : undefined];
    return new Set(types.filter((type) => type !== undefined));
  }
}
