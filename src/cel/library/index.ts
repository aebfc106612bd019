/** Every function that an expression may call on Kubernetes 1.36. Built on first use: most programs never compile a rule. */
import { once } from "#base";
import { joinDeclarations } from "../declarations.ts";
import { arithmetic } from "./arithmetic.ts";
import { authorization } from "./authorization.ts";
import { comparison } from "./comparison.ts";
import { conversions } from "./conversions.ts";
import { kubernetesValues } from "./kubernetes-values.ts";
import { lists } from "./lists.ts";
import { network } from "./network.ts";
import { optionals } from "./optionals.ts";
import { strings } from "./strings.ts";

export const kubernetesLibrary = once(() =>
  joinDeclarations([
    arithmetic(),
    comparison(),
    conversions(),
    strings(),
    lists(),
    optionals(),
    network(),
    kubernetesValues(),
    authorization(),
  ]),
);
