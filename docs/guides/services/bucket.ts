import { plain, type Provisioner } from "@lattice-fleet/lattice/compile";

/** `type: bucket`: a public address, and a key that is only written into Secrets. */
export const bucket: Provisioner = {
  type: "bucket",
  params: ["region"],
  provision: ({ address, params, surroundings }) => {
    const region = params.get("region");
    const where = region?.kind === "text" && region.value.kind === "plain" ? region.value.text : "eu-central-1";
    const url = plain(`https://${address.name}.${where}.buckets.example.com`);
    const key = () => {
      const found = surroundings.readSecret(`buckets/${address.name}/key`);
      return found.ok ? found : { ok: false as const, error: { kind: "other" as const, message: found.error } };
    };
    return { ok: true, value: { outputs: new Map([["url", () => ({ ok: true as const, value: url })], ["key", key]]) } };
  },
};
