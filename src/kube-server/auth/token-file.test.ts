import { expect, test } from "vitest";
import { parseTokenFile } from "./token-file.ts";

test("a line is a token, a user, a uid and groups", () => {
  const parsed = parseTokenFile('# people\r\nt1,alice,u1,"devs, ops"\n\n"t,2",bob,u2\nt3 , "car""ol",u3,solo\n');
  if (!parsed.ok) throw new Error(parsed.error);
  const { userOf, size } = parsed.value;
  expect(size).toBe(3);
  expect(userOf("t1")).toEqual({ name: "alice", uid: "u1", groups: ["devs", "ops", "system:authenticated"] });
  expect(userOf("t,2")).toEqual({ name: "bob", uid: "u2", groups: ["system:authenticated"] });
  expect(userOf("t3")?.name).toBe('car"ol');
  expect(userOf("nope")).toBeUndefined();
});

const refused: readonly { name: string; given: string; want: string }[] = [
  { name: "nothing", given: "\n# only a comment\n", want: "there is no token in it" },
  { name: "too few columns", given: "secret,bob", want: 'line 1: expected token,user,uid and possibly "group1,group2", found 2 column(s)' },
  {
    name: "groups without quotes",
    given: "secret,bob,u,a,b",
    want: 'line 1: 5 columns; several groups go into one pair of quotes: "group1,group2"',
  },
  { name: "an empty token", given: "a,b,c\n,bob,u", want: "line 2: the token is empty" },
  { name: "an empty user", given: "secret,,u", want: "line 1: the user is empty" },
  { name: "an open quote", given: 'secret,bob,u,"a', want: "line 1: a quote is not closed, or something stands behind it" },
  { name: "text after a quote", given: '"secret"x,bob,u', want: "line 1: a quote is not closed, or something stands behind it" },
  { name: "the same token twice", given: "secret,a,1\nsecret,b,2", want: "line 2: this token stands on an earlier line too" },
];

test.each(refused)("$name is an error, and no message contains a token", ({ given, want }) => {
  expect(parseTokenFile(given)).toEqual({ ok: false, error: want });
  expect(want).not.toContain("secret");
});
