/**
 * Bearer tokens in the CSV form of kube-apiserver: `token,user,uid,"group1,group2"`, one per line.
 *
 * Stricter than a real server: an invalid line is an error at the start, because a token that silently does not work would be noticed late.
 * Messages name lines, never tokens.
 */
import { err, ok, sha256Hex, type Result } from "#base";
import type { User } from "../protocol/request.ts";
import { authenticated } from "./users.ts";

export type TokenTable = {
  readonly size: number;
  /** Looked up by digest, so that the time of a lookup reveals nothing about the token. */
  readonly userOf: (token: string) => User | undefined;
};

export function parseTokenFile(text: string): Result<TokenTable, string> {
  const users = new Map<string, User>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const fields = splitCsv(line);
    if (fields === undefined) return err(`line ${index + 1}: a quote is not closed, or something stands behind it`);
    const [token = "", name = "", uid = "", groups = ""] = fields;
    if (fields.length < 3)
      return err(`line ${index + 1}: expected token,user,uid and possibly "group1,group2", found ${fields.length} column(s)`);
    if (fields.length > 4)
      return err(`line ${index + 1}: ${fields.length} columns; several groups go into one pair of quotes: "group1,group2"`);
    if (token === "" || name === "") return err(`line ${index + 1}: the ${token === "" ? "token" : "user"} is empty`);
    const key = sha256Hex(token);
    if (users.has(key)) return err(`line ${index + 1}: this token stands on an earlier line too`);
    users.set(key, userOf(name, uid, groups.split(",")));
  }
  return users.size === 0 ? err("there is no token in it") : ok(tableOf(users));
}

export function userOf(name: string, uid: string, groups: readonly string[]): User {
  const own = groups.map((group) => group.trim()).filter((group) => group !== "");
  return authenticated({ name, uid, groups: own });
}

function tableOf(users: ReadonlyMap<string, User>): TokenTable {
  return { size: users.size, userOf: (token) => users.get(sha256Hex(token)) };
}

/** One line of RFC 4180: a quoted field may contain commas and doubled quotes. */
function splitCsv(line: string): readonly string[] | undefined {
  const fields: string[] = [];
  let at = 0;
  for (;;) {
    while (line[at] === " ") at += 1;
    const quoted = /^"((?:[^"]|"")*)"\s*/.exec(line.slice(at));
    const field = quoted ?? /^[^",]*/.exec(line.slice(at));
    if (field === null) return undefined;
    fields.push(quoted === null ? field[0].trim() : (quoted[1] ?? "").replaceAll('""', '"'));
    at += field[0].length;
    if (at >= line.length) return fields;
    if (line[at] !== ",") return undefined;
    at += 1;
  }
}
