/** The error for a request that a webhook denied: the Status of the webhook, completed. */
import { err, type Err } from "#base";
import { field, type JsonObject } from "#kube";
import { failure, type Failure } from "../../protocol/status.ts";

const BAD_REQUEST = 400;

/** A denial never has a success code. */
export function denied(name: string, status: JsonObject | undefined): Err<Failure> {
  const given = { message: textOf(status, "message"), reason: textOf(status, "reason") };
  const code = field(status, "code");
  const details = field(status, "details") as Failure["details"];
  const explained = given.message === "" ? given.reason : given.message;
  const by = `admission webhook ${JSON.stringify(name)} denied the request`;
  const made = failure({
    code: typeof code === "number" && code >= BAD_REQUEST ? code : BAD_REQUEST,
    message: explained === "" ? `${by} without explanation` : `${by}: ${explained}`,
    ...(given.reason === "" ? {} : { reason: given.reason }),
    ...(details === undefined ? {} : { details }),
  });
  const own = textOf(status, "status");
  const metadata = (field(status, "metadata") as Failure["metadata"] | undefined) ?? {};
  // any status of the webhook except Success is kept
  return err({ ...made, metadata, status: own === "" || own === "Success" ? "Failure" : (own as Failure["status"]) });
}

function textOf(status: JsonObject | undefined, name: string): string {
  const value = field(status, name);
  return typeof value === "string" ? value : "";
}
