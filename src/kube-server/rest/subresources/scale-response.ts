/** The response with a Scale: the object, a Table with its own columns, or its metadata only. */
import { ok } from "#base";
import type { KubeObject } from "#kube";
import { ageOf } from "../../builtin-kinds/cells/text.ts";
import { columnsOf } from "../../builtin-kinds/columns.ts";
import type { ResourceType, TableColumn } from "../../resource-type.ts";
import type { RequestContext } from "../../protocol/core.ts";
import { valueResponse, objectResponse, type ResponseResult } from "../../protocol/respond.ts";
import { hiddenType } from "./hidden-kinds.ts";
import { numberAt } from "./scale-object.ts";

export function scaleResponse(call: RequestContext, scale: KubeObject): ResponseResult {
  if (call.output.transform === undefined) return ok(valueResponse(call, 200, scale));
  return objectResponse({ ...call, target: { ...call.target, type: printedType(call.target.type.custom) } }, 200, scale);
}

/** The columns for custom resources differ, because another part of a real server writes them. */
function printedType(custom: boolean): ResourceType {
  const [name, age] = shared();
  const replicas = (title: string, description: string) => ({ name: title, type: "integer", format: "", priority: 0, description });
  const columns = custom
    ? [
        { ...name, format: "name" },
        replicas("Desired", "Number of desired replicas"),
        replicas("Available", "Number of actual replicas"),
        { ...age, type: "date" },
      ]
    : [
        { ...name, format: "" },
        replicas("Desired", "replicas is the desired number of instances for the scaled object."),
        replicas("Available", "replicas is the actual number of observed instances of the scaled object."),
        age,
      ];
  return { ...hiddenType("Scale"), columns, cells: cellsOf };
}

/** Name and Age, with the descriptions that all kinds have. */
function shared(): readonly [TableColumn, TableColumn] {
  const columns = columnsOf("apps/v1", "deployments") ?? [];
  const none = { name: "", type: "string", format: "", priority: 0, description: "" };
  return [columns.find(({ name }) => name === "Name") ?? none, columns.find(({ name }) => name === "Age") ?? none];
}

function cellsOf(scale: KubeObject, now: number) {
  return [scale.metadata.name, numberAt(scale, ["spec", "replicas"]), numberAt(scale, ["status", "replicas"]), ageOf(scale, now)];
}
