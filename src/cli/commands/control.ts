/** Flags of `lattice stop` and `lattice start`. */
import { Option } from "commander";
import type { ControlFlags } from "../control.ts";
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerStop: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "stop", {
    group: "local",
    summary: "stop one cluster of lattice up",
    description:
      "stop the API server and the operator of one cluster of lattice up. Its state is kept, and it stays stopped until lattice start",
    examples: [{ command: "lattice stop cluster-2", effect: "stop a cluster of lattice up --empty --clusters 2" }],
  })
    .argument("<name>", "the cluster; mgmt is the one that lattice up starts first")
    .option("--data-dir <folder>", "the folder that lattice up runs in", ".lattice")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (name: string, flags: ControlFlags) =>
      done(await (await import("../control.ts")).controlCluster(io, { command: "stop", name }, flags)),
    );
};

export const registerStart: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "start", {
    group: "local",
    summary: "start a stopped cluster of lattice up",
    description:
      "start a cluster of lattice up that was stopped, and wait until its API server accepts requests. Its kubeconfig stays valid",
    examples: [{ command: "lattice start cluster-2", effect: "start a cluster that lattice stop has stopped" }],
  })
    .argument("<name>", "the cluster")
    .option("--data-dir <folder>", "the folder that lattice up runs in", ".lattice")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (name: string, flags: ControlFlags) =>
      done(await (await import("../control.ts")).controlCluster(io, { command: "start", name }, flags)),
    );
};
