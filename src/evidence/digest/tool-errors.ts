import type { ErrorFinding, LineReader } from './finding.ts';
import { fixedWords, kindOfMessage } from './message-kind.ts';

const OVERWRITES = 'local changes would be overwritten';
const BLOCKED = /local changes .{0,60}would be overwritten|cannot pull with rebase: You have unstaged/;

/** Messages of well-known tools, by the name that engineers know them by. */
const KNOWN: readonly (readonly [string, RegExp])[] = [
  ['merge conflict', /^CONFLICT \(|^Automatic merge failed/],
  ['not a git repository', /not a git repository/],
  ['non-fast-forward', /\(non-fast-forward\)|\(fetch first\)/],
  ['patch does not apply', /: patch does not apply|^error: patch failed: /],
  ['pathspec did not match', /pathspec .{1,200} did not match/],
  [
    'unknown revision',
    /^fatal: (?:ambiguous argument|bad revision|couldn't find remote ref|Needed a single revision)|unknown revision or path/,
  ],
  [OVERWRITES, BLOCKED],
  ['nothing to commit', /^nothing to commit|nothing added to commit/],
  ['git auth', /^fatal: Authentication failed|Permission denied \(publickey/],
  ['Missing script', /^npm (?:ERR!|error) [Mm]issing script/],
  ['No matching distribution', /^ERROR: (?:No matching distribution|Could not find a version)/],
  ['ResolutionImpossible', /^ERROR: (?:ResolutionImpossible|Cannot install )/],
  ['No such file', /^(?:ERROR: )?Could not open requirements file/],
  ['version solving failed', /version solving failed/],
  ['No solution found', /No solution found when resolving/],
  ["Couldn't find package", /^error Couldn't find (?:package|any versions)/],
  ['could not be resolved', /requirements could not be resolved to an installable/],
  ['Could not resolve dependencies', /Could not resolve dependencies/],
  ['Could not find', /^\s{0,8}> Could not find [\w.-]{1,80}:[\w.-]{1,80}:/],
  ['ProjectBuildingException', /ProjectBuildingException/],
  ['no matching package', /no matching package (?:named|found)/],
  ['failed to select a version', /failed to select a version for/],
  ['failed to parse manifest', /failed to parse manifest/],
  ['could not find Cargo.toml', /could not find `Cargo\.toml`/],
  [
    'syntax error',
    /\bERROR:\s{1,2}syntax error|near ".{1,80}": syntax error|You have an error in your SQL syntax|^(?:ba|z|da)?sh: (?:-c: )?(?:line )?\d{1,6}: syntax error/,
  ],
  ['relation does not exist', /(?:relation|table|view) "?.{1,120}"? does not exist/],
  ['column does not exist', /column "?.{1,120}"? does not exist/],
  ['role does not exist', /role "?.{1,120}"? does not exist/],
  ['function does not exist', /function .{1,120} does not exist/],
  ['no such table', /no such table:/],
  ['no such column', /no such column:/],
  ['no such function', /no such function:/],
  ['duplicate key', /duplicate key value/],
  ['UNIQUE constraint failed', /UNIQUE constraint failed/],
  ['violates foreign key constraint', /violates foreign key constraint|FOREIGN KEY constraint failed/],
  ['violates not-null constraint', /violates not-null constraint|NOT NULL constraint failed/],
  ['violates check constraint', /violates check constraint|CHECK constraint failed/],
  ['invalid input syntax', /invalid input syntax for/],
  ['deadlock', /deadlock detected/],
  ['database is locked', /database is locked/],
  ['sql no-connection', /^psql: error: connection to server|^ERROR 200[23] \(HY000\)/],
  ['undefined symbol', /^Undefined symbols for architecture|^ld: symbol\(s\) not found|: undefined symbol: /],
  ['command not found', /: command not found/],
  ['cannot find -l', /: cannot find -l\w/],
  ['No rule to make target', /No rule to make target/],
  [
    'Cannot connect to the Docker daemon',
    /Cannot connect to the Docker daemon|[Ff]ailed to connect to the docker API/,
  ],
  ['port is already allocated', /port is already allocated|address already in use/],
  ['No such container', /No such container/],
  ['dockerfile parse error', /dockerfile parse error/],
  [
    'not found',
    /failed to (?:solve|calculate checksum|compute cache key|resolve source metadata).{0,300}: not found$/,
  ],
  ['Cannot find module', /^(?:Error: )?Cannot find (?:module|package) /],
  ['heap out of memory', /heap out of memory/],
  ['object not found', /^Error.{0,200}: object '.{1,80}' not found|^Error: object '.{1,80}' not found/],
  ['could not find function', /could not find function "/],
  ['there is no package', /there is no package called/],
  [
    'undefined variable',
    /is undefined\b.{0,40}error appears|The task includes an option with an undefined variable/,
  ],
  ["couldn't resolve module/action", /couldn't resolve module\/action/],
  [
    'YAML syntax error',
    /^ERROR! (?:We were unable to read either as JSON|Syntax Error while loading YAML)|Syntax Error while loading YAML|^yaml: line \d{1,7}: /,
  ],
  ['error parsing', /^error: error parsing /],
  ['no matches for kind', /no matches for kind/],
  ['connection refused', /[Cc]onnection refused|The connection to the server .{1,120} was refused/],
  ['SIGSEGV', /Segmentation fault|\bSIGSEGV\b/],
  ['TestFailure', /^The following tests FAILED:|^Result: FAIL$/],
];
/** All of them in one pattern: nearly every line has none. */
const ANY_KNOWN = new RegExp(KNOWN.map(([, { source }]) => `(?:${source})`).join('|'));
const knownKind = (text: string): string | undefined =>
  ANY_KNOWN.test(text) ? KNOWN.find(([, pattern]) => pattern.test(text))?.[0] : undefined;
/** Reasons of pods and containers, as Kubernetes writes them. */
const POD =
  /\b(ErrImagePull|OOMKilled|CreateContainerConfigError|CreateContainerError|RunContainerError|InvalidImageName|FailedScheduling|FailedMount|ImagePullBackOff|CrashLoopBackOff|Evicted)\b/;
const POD_LINE = /\b(?:ErrImagePull|OOMKilled|CrashLoopBackOff)\b|Reason:|^\s{0,4}Warning /;
const SERVER = /^Error from server \((\w{3,40})\)/;
const TERMINATED = /terminate called after throwing an instance of '([\w:]{1,80})'/;
const NPM = /^npm (?:ERR!|error) code (E[A-Z0-9_]{2,24})$/;
const PACKAGE_CODES = /\b(ERR_PNPM_[A-Z_]{3,40}|YN0(?!000)\d{3})\b/;
/** What lines with one of these codes have in them. */
const ANY_CODE =
  /npm |Error from|terminate|Back[Oo]ff|Err?Image|OOM|Reason:|Warning|ERR_PNPM|YN0|SQLSTATE|[45]\d\d|\bE[A-Z]{3}|Container|Failed|Evicted/;
const SQLSTATE = /SQLSTATE\[([0-9A-Z]{5})\]/;
const MYSQL = /^ERROR (\d{4}) \(([0-9A-Z]{5})\)/;
const DATABASE = /^(ORA-\d{5}|Msg \d{1,6})\b/;
const HTTP =
  /^HTTP\/[\d.]{1,3} ([45]\d\d)\b|\bstatus(?: code)?[ :=]{1,3}([45]\d\d)\b|^([45]\d\d) (?:Client|Server) Error\b|\berror: ([45]\d\d)\b/;
const ERRNO =
  /\b(ENOENT|EACCES|EPERM|EEXIST|EISDIR|ENOTDIR|ENOTEMPTY|EMFILE|ENOSPC|EADDRINUSE|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|EROFS|EBUSY|EINVAL|ENOMEM|ENAMETOOLONG|ELOOP)\b/;

/** Where such a message names its file. */
const PLACES: readonly RegExp[] = [
  /^psql:([\w./-]{1,300}):(\d{1,7}): /,
  /^error: patch failed: (\S{1,300}):(\d{1,7})$/,
  /^CONFLICT \(.{1,40}\): Merge conflict in (\S{1,300})$/,
  /^error: error (?:parsing|validating) "?([\w./-]{1,300}\.ya?ml)"?/,
  / from "([\w./-]{1,300}\.ya?ml)": no matches/,
  /^npm (?:ERR!|error) (?:path|JSON\.parse).{0,40}[/\s](package\.json)$/,
];
/** Lines that only say where: `on main.tf line 4, in …`, `Dockerfile:9`, `Build file 'build.gradle' line: 14`. */
const WHERE =
  /^\s{0,4}(?:on (\S{1,300}\.tf(?:vars)?) line (\d{1,7})|([\w./-]{0,200}Dockerfile[\w.-]{0,40}):(\d{1,7})$|Build file '([^']{1,300})' line: (\d{1,7})|.{0,480}The error appears to be in '([^']{1,300})': line (\d{1,7}))/;
const OVERWRITTEN = /^\t(\S{1,300})$/;
const SUMMARY =
  /^(?:Error: |ERROR: |ERROR! |fatal: |error: |Error response from daemon: |> (?=Could|Cannot|Failed|A problem))(.{1,300})$/;
const SUMMING = /^(?:[Ee]rror|ERROR|fatal: |The |make|> )|api error|error validating/;
const HELM =
  /^Error: .{0,80}?(?:template: (\S{1,300}\.(?:ya?ml|tpl)):(\d{1,7}):\d{1,7}: .{0,300}(nil pointer)|(YAML parse error) on (\S{1,300}): .{0,200}line (\d{1,7}))/;
const AWS = /api error ([A-Z]\w{2,40}(?:\.\w{2,40})?):/;
const VALIDATION = /error validating "([\w./-]{1,300})": .{0,60}(ValidationError)/;
const MAKE = /^make(?:\[\d{1,3}\])?: \*\*\* \[(?:([\w./-]{1,200}):(\d{1,7}): )?/;
const R_ERROR = /^Error in .{1,200} : ?(.{0,200})$/;
const ANSIBLE = /^fatal: \[.{1,120}\]: (?:FAILED|UNREACHABLE)! => .{0,480}?"msg": "([^"]{1,200})/;
const PHPSTAN_FILE = /^\s{1,4}Line {2,6}(\S{1,300}\.php)\s*$/;
const PHPSTAN_ROW = /^\s{1,4}:?(\d{1,7}) {2,8}\S/;

interface Said {
  readonly kind: string;
  file?: string | undefined;
  line?: number | undefined;
  /** From a fixed list; the other kinds are put together from words. */
  readonly isKnown: boolean;
}

/** Git, package managers, databases, containers, HTTP and the kernel: names and codes from fixed lists. */
export function createToolErrorReader(): LineReader & { known(): readonly ErrorFinding[] } {
  const said = new Map<string, Said>();
  let where: { readonly file: string; readonly line: number } | undefined;
  let isTerraform = false;
  let isBlocked = false;
  let analysed: string | undefined;
  const add = (kind: string | undefined, isKnown = true, file?: string, line?: number) => {
    if (kind === undefined || said.size >= 20) return;
    const before = said.get(kind);
    if (before === undefined) said.set(kind, { kind, isKnown, file, line });
    else if (before.file === undefined && file !== undefined) Object.assign(before, { file, line });
  };
  return {
    line: (text) => {
      readWhere(text);
      const blocked = isBlocked ? OVERWRITTEN.exec(text)?.[1] : undefined;
      isBlocked = BLOCKED.test(text);
      if (blocked !== undefined) add(OVERWRITES, true, blocked);
      readCodes(text, add);
      const summary = SUMMING.test(text) ? summaryOf(text) : undefined;
      add(summary?.kind, summary?.isKnown ?? false, summary?.file, summary?.line);
      analysed = PHPSTAN_FILE.exec(text)?.[1] ?? analysed;
      const row = analysed === undefined ? null : PHPSTAN_ROW.exec(text);
      if (row !== null) add('phpstan', true, analysed, Number(row[1]));
    },
    found: () => {
      const all = [...said.values()];
      const known = all.filter(({ isKnown }) => isKnown);
      return withPlace(known.length > 0 && !isTerraform ? known : all);
    },
    known: () => withPlace([...said.values()].filter(({ isKnown }) => isKnown)),
  };

  function withPlace(all: readonly Said[]): readonly ErrorFinding[] {
    // A pod backs off because of something: the reason comes first.
    const kept = all.toSorted(
      (a, b) => Number(a.kind.endsWith('BackOff')) - Number(b.kind.endsWith('BackOff')),
    );
    return kept.map(({ kind, ...own }, index): ErrorFinding => {
      const { file, line } = index === 0 && own.file === undefined && where !== undefined ? where : own;
      return { kind, ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) };
    });
  }

  function readWhere(text: string): void {
    const match = /line|Dockerfile/.test(text) ? WHERE.exec(text) : null;
    if (match === null || where !== undefined) return;
    const [file, line] = match.slice(1).filter((group) => group !== undefined);
    if (file !== undefined && line !== undefined) where = { file, line: Number(line) };
    isTerraform ||= match[1] !== undefined;
  }
}

const lineOf = (digits: string | undefined): number | undefined =>
  digits === undefined ? undefined : Number(digits);

/** What a line that sums up an error says. */
function summaryOf(text: string): { [Key in keyof Said]?: Said[Key] | undefined } | undefined {
  const helm = text.startsWith('Error: ') ? HELM.exec(text) : null;
  if (helm !== null)
    return {
      kind: helm[3] ?? helm[4] ?? '',
      isKnown: true,
      file: helm[1] ?? helm[5],
      line: lineOf(helm[2] ?? helm[6]),
    };
  const invalid = VALIDATION.exec(text);
  if (invalid?.[2] !== undefined) return { kind: invalid[2], isKnown: true, file: invalid[1] };
  if (/^The \w{1,60} ".{1,80}" is invalid: /.test(text)) return { kind: 'Invalid value', isKnown: true };
  const code = AWS.exec(text)?.[1];
  if (code !== undefined) return { kind: code, isKnown: true };
  const task = ANSIBLE.exec(text)?.[1];
  if (task !== undefined) {
    const isStatus = task.startsWith('non-zero return code');
    return { kind: isStatus ? 'non-zero return code' : (knownKind(task) ?? fixedWords(task)), isKnown: true };
  }
  const made = MAKE.exec(text);
  if (made !== null) return { kind: 'make Error', file: made[1], line: lineOf(made[2]) };
  const failed = R_ERROR.exec(text)?.[1];
  if (failed !== undefined) return { kind: kindOfMessage(failed) ?? 'stop' };
  const summary = SUMMARY.exec(text)?.[1];
  return summary === undefined || summary.startsWith('[')
    ? undefined
    : { kind: fixedWords(summary) ?? kindOfMessage(summary) };
}

type Add = (kind: string | undefined, isKnown?: boolean, file?: string, line?: number) => void;

function readCodes(text: string, add: Add): void {
  const database = DATABASE.exec(text)?.[1] ?? MYSQL.exec(text)?.[1];
  add(database === undefined || /\D/.test(database) ? database : `ERROR ${database}`);
  const kind = knownKind(text);
  if (kind !== undefined) {
    const place = PLACES.map((pattern) => pattern.exec(text)).find((match) => match !== null);
    add(kind, true, place?.[1], place?.[2] === undefined ? undefined : Number(place[2]));
  }
  if (!ANY_CODE.test(text)) return;
  add(NPM.exec(text)?.[1]);
  add(SERVER.exec(text)?.[1]);
  add(TERMINATED.exec(text)?.[1]);
  if (POD_LINE.test(text)) add(POD.exec(text)?.[1]);
  add(PACKAGE_CODES.exec(text)?.[1]);
  const state = SQLSTATE.exec(text)?.[1];
  add(state && `SQLSTATE ${state}`);
  const status = HTTP.exec(text)
    ?.slice(1)
    .find((group) => group !== undefined);
  add(status && `HTTP ${status}`);
  add(ERRNO.exec(text)?.[1]);
}

const NAMED =
  /^(?:\S{1,40}: |Caused by: |\*\* \()?((?:[A-Za-z_]\w{0,60}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Warning))(?::|$|\))/;

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
