/**
 * Requests that were refused for want of a right, by the text of logs. An API server that has just started refuses requests before it has read the roles,
 * so each is asked about again: what is left is a missing right.
 */
import type { PlaneAccess } from "../harness/index.ts";

/** A name is in the text when the request is for one object, also for a watch of one. */
const REFUSED =
  /(?:"([^" ]+)" is forbidden: )?User "([^"]+)" cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?/g;

/** "USER VERB RESOURCE", once each. */
export async function missingRights(plane: PlaneAccess, log: string): Promise<readonly string[]> {
  const missing = new Set<string>();
  const asked = new Set<string>();
  for (const [text, name, user = "", verb = "", path = "", group = "", namespace] of log.replaceAll("\\", "").matchAll(REFUSED)) {
    if (asked.has(text)) continue;
    asked.add(text);
    const [resource = "", subresource] = path.split("/");
    const resourceAttributes = { verb, group, resource, ...(subresource === undefined ? {} : { subresource }), namespace, name };
    const spec = { user, groups: ["system:serviceaccounts", "system:authenticated"], resourceAttributes };
    const review = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };
    const answer = await plane.request({ method: "POST", path: "/apis/authorization.k8s.io/v1/subjectaccessreviews", body: review });
    if (!/"allowed": ?true/.test(answer.text)) missing.add(`${user} ${verb} ${path}.${group}`);
  }
  return [...missing];
}
