/**
 * `s3`: a bucket behind a service `{id}-s3` (MinIO and the like), or behind the LatticeExternalService of that name. The bucket is not created here;
 * its keys are in the secret store.
 */
import { ok } from "#base";
import { plain } from "../templates/index.ts";
import { openText, portParam, problemsIn } from "./params.ts";
import type { ResourceOutput, Provisioner } from "./provisioner.ts";
import { joinedOpenly, secretValue, serverOf } from "./server.ts";
import { open } from "./outputs.ts";

export const s3Provisioner: Provisioner = {
  type: "s3",
  params: ["bucket", "region", "port"],
  provision: (request) => {
    const port = portParam(request.params, "port", 9000);
    const bucket = openText(request.params, "bucket");
    const region = openText(request.params, "region");
    if (!port.ok || !bucket.ok || !region.ok) return problemsIn([port, bucket, region]);
    const server = serverOf(request, "s3", port.value);
    const endpoint: ResourceOutput = () => {
      if (server.externalUrl !== undefined) return ok(plain(server.externalUrl));
      const authority = server.authority();
      return authority.ok ? joinedOpenly([plain("http://"), plain(authority.value)]) : authority;
    };
    const id = () => secretValue(request, "s3", "access_key_id");
    const key = () => secretValue(request, "s3", "secret_key");
    return ok({
      peer: server.peer,
      outputs: new Map([
        ["bucket", open(bucket.value ?? request.address.name)],
        ["endpoint", endpoint],
        ["region", open(region.value ?? "us-east-1")],
        ["access_key_id", id],
        ["secret_key", key],
        ["aws_access_key_id", id],
        ["aws_secret_key", key],
      ]),
    });
  },
};
