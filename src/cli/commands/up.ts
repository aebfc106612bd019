/** Flags of `lattice up`. */
import type { UpFlags } from "../up.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { FILES_FLAG } from "./shared-flags.ts";

export const registerUp: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "up", {
    group: "local",
    summary: "run clusters with Lattice on this machine",
    description:
      "run clusters with Lattice on this machine until Ctrl-C; npm start does the same. API servers and operators are processes of their own, which are restarted when they end, and run without the FIPS provider",
    examples: [
      { command: "lattice up", effect: "start a management cluster with children and the example shop; state is kept in .lattice" },
      { command: "lattice up -f docs/guides/services/hello.yaml", effect: "start one with your own services instead" },
      {
        command: "lattice up --empty --clusters 3 --data-dir /tmp/fleet",
        effect: "start three clusters without services, in another folder",
      },
    ],
  })
    .option(FILES_FLAG, "your own services instead of the example shop: files or folders, Score files too")
    .option("--secrets <file>", "values of secrets for -f, by path: postgres/main-db/password: ...; without it they are made up")
    .option("--image <[name=]image...>", 'image of containers whose Score file has ".", by workload or workload/container')
    .option("-n, --namespace <name>", "namespace of resources of -f that name none")
    .option("--empty", "no services; a later lattice up in the same folder starts the same clusters")
    .option("--clusters <number>", "1: one cluster, with the example shop; with --empty: mgmt, cluster-2, ..., 1 to 16")
    .option("--cell", "make the first cluster a cell: LatticeClusters that are created there become clusters of this machine")
    .option("--data-dir <folder>", "where state, kubeconfigs and logs are kept", ".lattice")
    .option("--repair", "start with the intact part of a damaged folder; damaged files are kept under other names")
    .action(async (flags: UpFlags) => done(await (await import("../up.ts")).up(io, flags)));
};
