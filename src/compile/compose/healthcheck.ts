/** `healthcheck` as a readiness probe: Compose waits for it and does not restart a container that fails it. */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { scalarText, wordsOf } from "./text.ts";
import type { Notices } from "./notice.ts";

const TIMES = { interval: "periodSeconds", timeout: "timeoutSeconds", start_period: "initialDelaySeconds" } as const;
const MAPPED: ReadonlySet<string> = new Set(["test", "disable", "retries", ...Object.keys(TIMES)]);
const MOST_SECONDS = 86_400;

export function readinessProbe(check: Json | undefined, notices: Notices): JsonObject | undefined {
  if (!isJsonObject(check) || check["disable"] === true) return undefined;
  const command = commandOf(check["test"], notices.at("test"));
  if (command === undefined) return undefined;
  for (const key of Object.keys(check)) if (!MAPPED.has(key)) notices.at(key).warn("is not converted");
  const times = Object.entries(TIMES).flatMap(([key, name]) => {
    const value = check[key];
    const seconds = value === undefined ? undefined : secondsOf(scalarText(value, notices.at(key)) ?? "");
    if (value !== undefined && seconds === undefined) notices.at(key).warn("is no duration that can be read, and is left out");
    return seconds === undefined ? [] : [[name, name === "initialDelaySeconds" ? seconds : Math.max(1, seconds)] as const];
  });
  const retries = check["retries"];
  const threshold = typeof retries === "number" && Number.isInteger(retries) && retries >= 1 ? { failureThreshold: retries } : {};
  return { exec: { command }, ...Object.fromEntries(times), ...threshold };
}

function commandOf(test: Json | undefined, notices: Notices): readonly string[] | undefined {
  if (test === undefined) return undefined;
  if (typeof test === "string") return shell(scalarText(test, notices) ?? "");
  const words = wordsOf(test, notices);
  const [form = "", ...rest] = words ?? [];
  if (form === "NONE") return undefined;
  if (form === "CMD" && rest.length > 0) return rest;
  if (form === "CMD-SHELL" && rest.length === 1) return shell(rest[0] ?? "");
  return notices.warn("begins with none of CMD, CMD-SHELL and NONE, and is left out");
}

function shell(text: string): readonly string[] {
  return ["/bin/sh", "-c", text];
}

/** `1m30s`, `5s`, `500ms`. */
function secondsOf(text: string): number | undefined {
  const [whole, hours = "0", minutes = "0", seconds = "0", millis = "0"] =
    /^(?:(\d{1,4})h)?(?:(\d{1,6})m(?!s))?(?:(\d{1,6})s)?(?:(\d{1,9})ms)?$/.exec(text) ?? [];
  if (whole === undefined || whole === "") return undefined;
  const total = Math.ceil(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(millis) / 1000);
  return total > MOST_SECONDS ? undefined : total;
}
