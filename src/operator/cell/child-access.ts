/** The access records of the bootstrap server as the cluster controller uses them. */
import { err, map, mapErr, ok, type Result } from "#base";
import type { FailureCause } from "#controller-runtime";
import type { ChildAccess, ChildAccessRecords, ChildTokens } from "#controllers";
import type { AccessError, ClusterAccess, Registrations } from "#http";

export function childAccessRecords(registrations: Registrations): ChildAccessRecords {
  return {
    read: (cluster) => {
      const access = registrations.accessOf(cluster);
      return access === undefined ? undefined : viewOf(access);
    },
    issueTokens: async (cluster, expiresAt): Promise<Result<ChildTokens, FailureCause>> => {
      // new tokens would lift the revocation
      if (registrations.accessOf(cluster)?.revoked === true) {
        return err({
          kind: "forbidden",
          message: `the access of ${cluster} was revoked; delete Secret lattice-access-${cluster} to allow it again`,
        });
      }
      const created = await registrations.createAccess(cluster, { expiresAt, reissue: true });
      if (!created.ok) return err(causeOf(created.error));
      const { bootstrapToken: bootstrap, proxyToken: proxy } = created.value;
      if (bootstrap !== undefined && proxy !== undefined) return ok({ bootstrap, proxy });
      return err({ kind: "conflict", message: `the record of ${cluster} changed meanwhile` });
    },
    issueProxyToken: async (cluster) => mapErr(await registrations.reissueProxyToken(cluster), causeOf),
    extend: async (cluster, expiresAt) => mapErr(await registrations.extend(cluster, expiresAt), causeOf),
    remove: async (cluster) => {
      const removed = await registrations.remove(cluster);
      return removed.ok || removed.error.kind === "not-found"
        ? ok(undefined)
        : mapErr(
            map(removed, () => undefined),
            causeOf,
          );
    },
  };
}

function viewOf({ spent, revoked, expiresAt, certificates, lastReport }: ClusterAccess): ChildAccess {
  return { spent, revoked, expiresAt, certificates, ...(lastReport === undefined ? {} : { lastReport }) };
}

function causeOf({ kind, message }: AccessError): FailureCause {
  switch (kind) {
    case "not-found":
      return { kind: "not-found", message };
    case "refused":
    case "invalid-request":
      return { kind: "invalid", message };
    case "invalid-record":
      return { kind: "unusable-secret", message };
    case "busy":
    case "unavailable":
      return { kind: "unavailable", message };
  }
}
