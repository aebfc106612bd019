/**
 * Resources that are questions, not objects: they are answered and never kept.
 *
 * Who is known may do everything in this part, so every access review says yes; TokenReview asks the tokens that the server was given.
 */
import { ok } from "#base";
import { fieldAt, isJsonObject, type Json, type JsonObject } from "#kube";
import type { Call } from "../core.ts";
import { decodeBody } from "../decode-body.ts";
import { asJsonObject } from "../managed-kinds.ts";
import type { User } from "../request.ts";
import { answer, type Answered } from "../respond.ts";
import { writeOptions } from "../write-options.ts";

type Review = (call: Call, asked: JsonObject) => Json;

const allowed: Review = () => ({ allowed: true });

const REVIEWS: ReadonlyMap<string, Review> = new Map([
  ["authorization.k8s.io/subjectaccessreviews", allowed],
  ["authorization.k8s.io/selfsubjectaccessreviews", allowed],
  ["authorization.k8s.io/localsubjectaccessreviews", allowed],
  [
    "authorization.k8s.io/selfsubjectrulesreviews",
    () => ({
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      incomplete: false,
    }),
  ],
  ["authentication.k8s.io/selfsubjectreviews", ({ request }) => ({ userInfo: userInfo(request.user) })],
  [
    "authentication.k8s.io/tokenreviews",
    ({ core }, asked) => {
      const token = fieldAt(asked, "spec", "token");
      const user = typeof token === "string" ? core.authenticate(token) : undefined;
      return user === undefined ? { user: {}, error: "the token is not known" } : { authenticated: true, user: userInfo(user) };
    },
  ],
]);

function userInfo({ name, uid, groups }: User): Json {
  return { username: name, ...(uid === "" ? {} : { uid }), groups };
}

export function reviewOf(call: Call): ((call: Call) => Answered) | undefined {
  const { group, plural } = call.target.type.resource;
  const review = REVIEWS.get(`${group}/${plural}`);
  return review === undefined ? undefined : (asking) => answerReview(asking, review);
}

function answerReview(call: Call, review: Review): Answered {
  const options = writeOptions(call.request, "CreateOptions");
  if (!options.ok) return options;
  const decoded = decodeBody(call, options.value.fieldValidation);
  if (!decoded.ok) return decoded;
  const asked = asJsonObject(decoded.value);
  const metadata = isJsonObject(asked["metadata"]) ? asked["metadata"] : {};
  return ok(answer(call, 201, { ...asked, metadata, status: review(call, asked) }));
}
