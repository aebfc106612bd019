/** A CustomResourceDefinition per contract, in its own group. */
import type { Api } from "../client/api.ts";
import type { ApiResponse } from "../client/api-response.ts";

export const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

export type Version = Readonly<Record<string, unknown>>;

/** `things` of the contract's own group, served as v1. `spec` describes the field of that name. */
export class Things {
  readonly api: Api;
  readonly group: string;

  constructor(api: Api) {
    this.api = api;
    this.group = `${api.id}.contracts.test`;
  }

  get path(): string {
    return `${this.group}/v1/things`;
  }

  get definition(): string {
    return `${CRDS}/things.${this.group}`;
  }

  thing(name: string, spec: unknown, more: object = {}): object {
    return { apiVersion: `${this.group}/v1`, kind: "Thing", metadata: { name }, spec, ...more };
  }

  body(versions: readonly Version[], more: object = {}): object {
    const names = { plural: "things", kind: "Thing" };
    return { metadata: { name: `things.${this.group}` }, spec: { group: this.group, scope: "Namespaced", names, versions, ...more } };
  }

  /** Creates the definition and waits until it is served. */
  async define(versions: readonly Version[], more: object = {}): Promise<ApiResponse> {
    const made = (await this.api.post(CRDS, this.body(versions, more))).gives(201);
    await this.served();
    return made;
  }

  async served(version = "v1"): Promise<void> {
    await this.api.until(
      () => this.api.get(`/apis/${this.group}/${version}/things`),
      ({ status, body }) => status === 200 && body !== undefined,
    );
  }

  post = (name: string, spec: unknown, more?: object): Promise<ApiResponse> => this.api.post(this.path, this.thing(name, spec, more));
}

/** v1, served and stored, with this schema of `spec`. */
export function v1(spec: object, more: object = {}, root: object = {}): Version {
  const status = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: "object", properties: { spec, status }, ...root } },
    ...more,
  };
}

export const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

export async function things(api: Api, ...version: Parameters<typeof v1>): Promise<Things> {
  const made = new Things(api);
  await made.define([v1(...version)]);
  return made;
}
