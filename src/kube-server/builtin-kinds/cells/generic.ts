/** Cells of kinds without a printer of their own: the name and the age, or the time of creation where the column says so. */
import type { Json, KubeObject } from "#kube";
import type { TableColumn } from "../../resource-type.ts";
import { ageOf } from "./text.ts";

export function genericCells(columns: readonly TableColumn[]): (object: KubeObject, now: number) => readonly Json[] {
  return (object, now) =>
    columns.map(({ name }) => {
      if (name === "Name") return object.metadata.name;
      if (name === "Age") return ageOf(object, now);
      return name === "Created At" ? (object.metadata.creationTimestamp ?? null) : null;
    });
}
