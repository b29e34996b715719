import type { LineReader } from './finding.ts';

/** Messages of well-known tools, with the code for each. */
const KNOWN: readonly (readonly [string, RegExp])[] = [
  ['git merge-conflict', /^CONFLICT \(|^Automatic merge failed/],
  ['git not-a-repository', /^fatal: not a git repository/],
  ['git non-fast-forward', /\(non-fast-forward\)|\(fetch first\)/],
  ['git push-rejected', /^error: failed to push some refs/],
  ['git unknown-path', /pathspec .{1,200} did not match/],
  [
    'git unknown-revision',
    /^fatal: (?:ambiguous argument|bad revision|couldn't find remote ref|Needed a single revision)/,
  ],
  [
    'git unclean-tree',
    /local changes .{0,60}would be overwritten|cannot pull with rebase: You have unstaged/,
  ],
  ['git nothing-to-commit', /^nothing to commit/],
  ['git auth', /^fatal: Authentication failed|Permission denied \(publickey/],
  ['git failed', /^fatal: /],
  ['npm missing-script', /^npm (?:ERR!|error) Missing script/i],
  ['pip no-matching-distribution', /^ERROR: (?:No matching distribution|Could not find a version)/],
  ['pip resolution-impossible', /^ERROR: (?:ResolutionImpossible|Cannot install )/],
  [
    'sql syntax-error',
    /^(?:psql:.{0,200})?ERROR:\s{1,2}syntax error|near ".{1,80}": syntax error|You have an error in your SQL syntax/,
  ],
  [
    'sql no-such-object',
    /(?:relation|column|function|table|type|schema) "?.{1,120}"? does not exist|no such (?:table|column|function):/,
  ],
  ['sql duplicate-key', /duplicate key value|UNIQUE constraint failed|Duplicate entry/],
  [
    'sql constraint',
    /violates (?:foreign key|not-null|check) constraint|(?:FOREIGN KEY|NOT NULL|CHECK) constraint failed/,
  ],
  ['sql locked', /database is locked|deadlock detected/],
  ['sql no-connection', /^psql: error: connection to server|^ERROR 200[23] \(HY000\)/],
  [
    'shell-syntax-error',
    /^(?:ba|z|da)?sh: (?:-c: )?(?:line )?\d{1,6}: syntax error|^(?:ba|z|da)?sh: -c: line \d{1,6}: syntax error/,
  ],
  ['LinkError', /undefined reference to |^ld: symbol\(s\) not found|: undefined symbol: /],
  ['make failed', /^make(?:\[\d{1,3}\])?: \*\*\* /],
  ['docker daemon-unreachable', /Cannot connect to the Docker daemon/],
  ['module-not-found', /^(?:Error: )?Cannot find (?:module|package) /],
];
const NPM = /^npm (?:ERR!|error) code (E[A-Z0-9_]{2,24})$/;
const SQLSTATE = /SQLSTATE\[([0-9A-Z]{5})\]/;
const MYSQL = /^ERROR (\d{4}) \(([0-9A-Z]{5})\)/;
const HTTP =
  /^HTTP\/[\d.]{1,3} ([45]\d\d)\b|\bstatus(?: code)?[ :=]{1,3}([45]\d\d)\b|^([45]\d\d) (?:Client|Server) Error\b|\berror: ([45]\d\d)\b/;
const ERRNO =
  /\b(ENOENT|EACCES|EPERM|EEXIST|EISDIR|ENOTDIR|ENOTEMPTY|EMFILE|ENOSPC|EADDRINUSE|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|EROFS|EBUSY|EINVAL|ENOMEM|ENAMETOOLONG|ELOOP)\b/;

/** Git, package managers, databases, HTTP and the kernel: names and codes from a fixed list. */
export function createToolErrorReader(): LineReader {
  const kinds = new Set<string>();
  const add = (kind: string | undefined) => {
    if (kind !== undefined && kinds.size < 20) kinds.add(kind);
  };
  return {
    line: (text) => {
      add(KNOWN.find(([, pattern]) => pattern.test(text))?.[0]);
      const npm = NPM.exec(text)?.[1];
      add(npm && `npm ${npm}`);
      const state = SQLSTATE.exec(text)?.[1];
      add(state && `SQLSTATE ${state}`);
      const mysql = MYSQL.exec(text);
      add(mysql?.[1] && `mysql ${mysql[1]} ${mysql[2]}`);
      const status = HTTP.exec(text)
        ?.slice(1)
        .find((group) => group !== undefined);
      add(status && `HTTP ${status}`);
      add(ERRNO.exec(text)?.[1]);
    },
    found: () => [...kinds].map((kind) => ({ kind })),
  };
}

const NAMED = /^(?:\S{1,40}: )?((?:[A-Za-z_]\w{0,60}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Warning))(?::|$)/;

/** The name of an error alone, for texts that were cut before the frames. */
export function createErrorNameReader(): LineReader {
  let kind: string | undefined;
  return {
    line: (text) => {
      const name = kind === undefined ? NAMED.exec(text.trim().replace(/^E {3,7}/, ''))?.[1] : undefined;
      if (name !== undefined) kind = name.slice(name.lastIndexOf('.') + 1);
    },
    found: () => (kind === undefined ? [] : [{ kind }]),
  };
}
