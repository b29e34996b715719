import { type ErrorFinding, type LineReader, readPlace } from './finding.ts';

const BRACKETED =
  /^\s{0,4}([^\s(][^(]{0,300})\((\d{1,7})(?:,\d{1,7})?\)\s?: (?:fatal )?error ([A-Z]{1,4}\d{3,5})\b/;
const COLONS = /^([^\s:][^:]{0,300}):(\d{1,7}):(?:(\d{1,7}):?)?/;
const ESLINT_ROW = /^\s{1,8}(\d{1,7}):\d{1,7}\s{1,8}error\s/;
const ESLINT_RULE = /\s([@a-z][a-z0-9@/-]{2,48})$/;
const SOURCE_FILE = /^(?:\/|\.{0,2}\/|[A-Z]:\\)?[\w@./\\-]{1,300}\.(?:[cm]?[jt]sx?|vue|svelte)$/;
const SHELL_LINE = /^([\w./-]{1,200}): line (\d{1,7}): (.{0,120})/;
const SHELL_KINDS: readonly (readonly [string, string])[] = [
  ['command not found', 'command-not-found'],
  ['unbound variable', 'unbound-variable'],
  ['syntax error', 'shell-syntax-error'],
  ['No such file', 'no-such-file'],
  ['Permission denied', 'permission-denied'],
];

/** Compilers and linters: one line per error, with its location. */
export function createCompilerReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let linted: string | undefined;
  return {
    line: (text) => {
      if (SOURCE_FILE.test(text.trim())) linted = text.trim();
      const found =
        readBracketed(text) ??
        readColons(text) ??
        readLintRow(text, linted) ??
        readShell(text) ??
        readPerl(text);
      if (found !== undefined) findings.push(found);
    },
    found: () => findings,
  };
}

/** TypeScript, C#, MSVC: `file(12,5): error TS2345: …`. */
function readBracketed(text: string): ErrorFinding | undefined {
  const match = BRACKETED.exec(text);
  if (match?.[1] === undefined || match[3] === undefined) return undefined;
  return { kind: match[3], file: match[1], line: Number(match[2]) };
}

/** Most other tools: `file:12:5: …`, with the message after the location. */
function readColons(text: string): ErrorFinding | undefined {
  const place = COLONS.exec(text);
  if (place?.[1] === undefined) return undefined;
  const rest = text.slice(place[0].length).trim();
  const kind = kindOf(place[1], rest);
  return kind === undefined ? undefined : { kind, file: place[1], line: Number(place[2]) };
}

function kindOf(file: string, rest: string): string | undefined {
  const typescript = /^- error (TS\d{4,5})/.exec(rest)?.[1];
  if (typescript !== undefined) return typescript;
  if (/^(?:fatal )?error:/.test(rest)) {
    const mypy = file.endsWith('.py') ? /\[([a-z-]{3,40})\]$/.exec(rest)?.[1] : undefined;
    return mypy === undefined ? 'CompileError' : `mypy ${mypy}`;
  }
  if (file.endsWith('.py'))
    return /^([A-Z]{1,4}\d{3,4})\b/.exec(rest)?.[1] ?? /^(\w{1,60}(?:Error|Exception))$/.exec(rest)?.[1];
  return file.endsWith('.go') && !file.endsWith('_test.go') && !/\s/.test(file) && rest !== ''
    ? 'CompileError'
    : undefined;
}

/** Perl: `words at file line 12.` */
function readPerl(text: string): ErrorFinding | undefined {
  const from = text.endsWith('.') ? text.lastIndexOf(' at ') : -1;
  const match = from < 0 ? null : /^ at (\S{1,200}\.p[lm]|-e|-) line (\d{1,7})\.$/.exec(text.slice(from));
  return match?.[1] === undefined
    ? undefined
    : { kind: 'die', file: match[1].replace(/^-e?$/, '<inline>'), line: Number(match[2]) };
}

/** ESLint names the file once, above its rows. */
function readLintRow(text: string, file: string | undefined): ErrorFinding | undefined {
  const row = file === undefined ? null : ESLINT_ROW.exec(text);
  if (row === null || file === undefined) return undefined;
  return { kind: `eslint ${ESLINT_RULE.exec(text)?.[1] ?? 'error'}`, file, line: Number(row[1]) };
}

function readShell(text: string): ErrorFinding | undefined {
  const match = SHELL_LINE.exec(text);
  if (match?.[1] === undefined || /(?:^|\/)(?:ba|z|da)?sh$/.test(match[1])) return undefined;
  const kind = SHELL_KINDS.find(([words]) => match[3]?.includes(words))?.[1];
  return kind === undefined ? undefined : { kind, file: match[1], line: Number(match[2]) };
}

/** Test runners that print no stack trace: the location of the failed assertion. */
export function createTestReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let isFailing = false;
  let tap: { readonly place: ReturnType<typeof readPlace> } | undefined;
  return {
    line: (text) => {
      const trimmed = text.trim();
      if (/^--- FAIL: |^Failure\/Error:|^not ok \d/.test(trimmed)) isFailing = true;
      const claim = isFailing ? readClaim(trimmed) : undefined;
      if (claim !== undefined) {
        findings.push(claim);
        isFailing = false;
      }
      if (isFailing && trimmed.startsWith("location: '")) tap = { place: readPlace(trimmed.slice(0, -1), 2) };
      const name = tap === undefined ? undefined : /^name: '(\w{1,60})'$/.exec(trimmed)?.[1];
      if (name !== undefined) {
        findings.push({ kind: name, ...tap?.place });
        tap = undefined;
        isFailing = false;
      }
      const file = readPytest(text) ?? readFailedFile(trimmed);
      if (file !== undefined) findings.push(file);
    },
    found: () => findings,
  };
}

/** Go and RSpec name the line of the test. */
function readClaim(trimmed: string): ErrorFinding | undefined {
  const place =
    /^([\w./-]{1,200}_test\.go):(\d{1,7}): /.exec(trimmed) ?? /^# (\S{1,200}\.rb):(\d{1,7}):in/.exec(trimmed);
  return place?.[1] === undefined
    ? undefined
    : { kind: 'TestFailure', file: place[1], line: Number(place[2]) };
}

function readPytest(text: string): ErrorFinding | undefined {
  const failed = /^FAILED (\S{1,200}\.py)::\S{1,200}(?: - (\w{1,60}))?/.exec(text);
  if (failed?.[1] === undefined) return undefined;
  const name = /(?:Error|Exception)$/.test(failed[2] ?? '') ? failed[2] : undefined;
  return { kind: name ?? 'TestFailure', file: failed[1] };
}

/** Jest and Vitest: `FAIL src/cart.test.ts > adds`. */
function readFailedFile(trimmed: string): ErrorFinding | undefined {
  const file = /^FAIL {1,3}([\w./@-]{1,200}\.(?:test|spec)\.[cm]?[jt]sx?)/.exec(trimmed)?.[1];
  return file === undefined ? undefined : { kind: 'TestFailure', file };
}
