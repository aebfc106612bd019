/**
 * Params that narrow an agreement: which ports, methods and paths. The mesh reads them, on whichever side they stand.
 *
 * What cannot be read is an error and never "all of them": a door that was to be narrow must not stand wide open because of a typing error.
 */
import { ok, type Result } from "#base";
import { listParam, problem, type Params } from "./params.ts";
import type { ResourceProblem } from "./provisioner.ts";

export const AGREEMENT_PARAMS = ["ports", "methods", "paths"] as const;

export type AgreementParams = {
  /** Names or numbers; undefined: all. */
  readonly ports: readonly (string | number)[] | undefined;
  readonly methods: readonly string[] | undefined;
  readonly paths: readonly string[] | undefined;
};

export function agreementParams(params: Params): Result<AgreementParams, ResourceProblem> {
  const ports = listParam(params, "ports");
  const methods = listParam(params, "methods");
  const paths = listParam(params, "paths");
  if (!ports.ok) return ports;
  if (!methods.ok) return methods;
  if (!paths.ok) return paths;
  const method = methods.value?.find((one) => !/^(\*|[A-Z][-A-Z]*)$/.test(one));
  if (method !== undefined) return problem(`params.methods has ${JSON.stringify(method)}; it must be a method in upper case, such as GET`);
  const path = paths.value?.find((one) => !/^[/*]\S*$/.test(one));
  if (path !== undefined) return problem(`params.paths has ${JSON.stringify(path)}; it must begin with "/", such as /api/*`);
  return ok({ ports: ports.value?.map(nameOrNumber), methods: methods.value, paths: paths.value });
}

function nameOrNumber(text: string): string | number {
  return /^[0-9]+$/.test(text) ? Number(text) : text;
}
