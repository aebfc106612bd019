/** Flags of `lattice bundle`. */
import { Option } from "commander";
import type { BundleFlags } from "../bundle.ts";
import { addCommand, type RegisterCommand } from "./command.ts";

const SOURCES = [
  "cluster-api=docs/guides/bundle/core-components.yaml",
  "bootstrap-kubeadm=docs/guides/bundle/bootstrap-components.yaml",
  "control-plane-kubeadm=docs/guides/bundle/control-plane-components.yaml",
  "infrastructure-docker=docs/guides/bundle/infrastructure-components.yaml",
  "cilium=docs/guides/bundle/cilium.yaml",
];
const PINS = "cluster-api=v1.14.2 bootstrap-kubeadm=v1.14.2 control-plane-kubeadm=v1.14.2 infrastructure-docker=v1.14.0 cilium=1.20.2";

export const registerBundle: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "bundle", {
    group: "operator",
    summary: "make a bundle of manifests for new clusters, or check one",
    description:
      "make a bundle of manifests for new clusters from local files, or check one. It fetches nothing. Clusters of provider local need no bundle",
    examples: [
      {
        command: `lattice bundle --out bundle --from ${SOURCES.join(" ")} --pin ${PINS} --mirror registry.k8s.io=mirror.example.com/k8s`,
        effect: "all components of clusters of provider docker, with images of a mirror",
      },
      { command: "lattice bundle --check bundle", effect: "compare every file with its digest" },
    ],
  })
    .option("--out <folder>", "the folder to write, which must be empty or absent")
    .option("--check <folder>", "check this bundle instead of making one")
    .option(
      "--from <name=path...>",
      "a component and its manifests, a file or a folder: cluster-api, bootstrap-kubeadm, control-plane-kubeadm, infrastructure-PROVIDER, cilium",
    )
    .option("--pin <name=version...>", "the version of each component")
    .option("--mirror <from=to...>", "replace the beginning of image names; the longest one that fits is used")
    .option("--set <name=value...>", "values of variables in the manifests of Cluster API, such as ${NAME}")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (flags: BundleFlags) => done((await import("../bundle.ts")).bundle(io, flags)));
};
