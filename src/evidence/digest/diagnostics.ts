import type { ErrorFinding, LineReader } from './finding.ts';
import { fixedWords, kindOfMessage } from './message-kind.ts';

const MOST = 40;
const BRACKETED =
  /^\s{0,4}([^\s(][^(]{0,300})\((\d{1,7})(?:,\d{1,7})?\)\s?: (?:fatal )?error ([A-Z]{1,4}\d{3,5})\b/;
/** `Shop.csproj : error NU1101: …`: a place without a line. */
const PROJECT = /^\s{0,4}([\w./\\:-]{1,300}|MSBUILD) : (?:fatal )?error ([A-Z]{2,5}\d{3,5}):/;
const COLONS =
  /^(?:vet: |e: |psql:|error: cannot parse: )?(?:file:\/\/)?([^\s:][^:]{0,300}|[A-Z]:\\[^:]{1,300}):(\d{1,7})(?::(\d{1,7}))?(?::| |$)/;
const MAVEN = /^(\/?[\w./\\:-]{1,300}\.(?:java|kt|scala)):\[(\d{1,7}),\d{1,7}\] (?:error: )?(.{1,200})/;
const KOTLIN = /^e: ([^\s:]{1,300}\.kts?): \((\d{1,7}), \d{1,7}\): (.{1,200})/;
const SCALA3 = /^-- (?:\[(E\d{3})\] )?.{0,60}Error: (\S{1,300}\.scala):(\d{1,7}):\d{1,7} -/;
const LINT_ROW = /^\s{1,8}(\d{1,7}):\d{1,7}\s{1,8}error\s{1,8}(.{1,300})/;
const LINT_RULE = /\s([@a-z][a-z0-9@/-]{2,48})$/;
const SOURCE_FILE = /^(?:\/|\.{0,2}\/|[A-Z]:\\)?[\w@./\\-]{1,300}\.(?:[cm]?[jt]sx?|vue|svelte|py)$/;
const SHELL_LINE = /^([\w./-]{1,200}): (?:line )?(\d{1,7}): (.{0,160})/;
const SHELL_KINDS: readonly (readonly [string, RegExp])[] = [
  ['command not found', /command not found|: not found$/],
  ['unbound variable', /unbound variable|parameter not set/],
  ['syntax error', /[Ss]yntax error|unexpected EOF/],
  ['No such file', /No such file/],
  ['Permission denied', /Permission denied/],
  ['SIGSEGV', /Segmentation fault/],
  ['SIGABRT', /^\d{1,9} Aborted/],
  ['SIGKILL', /^\d{1,9} Killed/],
];
const IS_SHELL = /(?:^|\/)(?:ba|z|da|k)?sh$/;
const SHELLCHECK_FILE = /^In (\S{1,300}) line (\d{1,7}):$/;
const SHELLCHECK = /\b(SC\d{4}) \((?:error|warning|info|style)\)/;
const PERL = /^(.{0,480}) at (\S{1,200}\.(?:p[lm]|t|cgi)|-e|-) line (\d{1,7})(?:[.,]|$)/;
const PERL_KINDS: readonly (readonly [string, RegExp])[] = [
  ['syntax error', /^syntax error/],
  ['Global symbol', /^Global symbol /],
  ["Can't locate object method", /^Can't locate object method/],
  ["Can't locate", /^Can't locate /],
  ["Can't call method", /^Can't call method/],
  ['Undefined subroutine', /^Undefined subroutine/],
  ['TestFailure', /^#\s{1,4}(?:Failed test|$)/],
];
const NO_KIND = /^(?:Use of uninitialized|BEGIN failed|Compilation failed|Execution of)/;
const DART_ROW =
  /^\s{0,8}error (?:-|•) (?:(\S{1,300}\.dart):(\d{1,7}):\d{1,7} - .{1,240} - (\w{2,60})|.{1,240} • (\S{1,300}\.dart):(\d{1,7}):\d{1,7} • (\w{2,60}))$/;
const MAKE_PLACE = /^([\w./-]{1,200}):(\d{1,7}): \*\*\* (.{1,160})/;
const CMAKE = /^CMake Error at ([\w./-]{1,300}):(\d{1,7})/;
const ASSERTED =
  /^(?:[\w./-]{1,200}: )?([\w./+-]{1,300}\.(?:c|cc|cpp|cxx|h|hpp)):(\d{1,7}): .{0,300}Assertion [`'].{0,300}' failed\.?$|^Assertion failed: .{1,300}, file ([\w./+-]{1,300}), line (\d{1,7})/;
const INSTANTIATED = /^(\S{1,300}):(\d{1,7}):\d{1,7}:\s{1,4}required from here$/;
const SYSTEM_HEADER = /^\/usr\/(?:include|lib)\//;
const SWIFT_FATAL = /^(\S{1,300}\.swift):(\d{1,7}): Fatal error: (.{1,160})/;
const BUNDLER =
  /^(?:\S{1,3} )?\[(?:ERROR|error)\] (.{1,200})$|^(?:Type error|Module not found|Module parse failed|Syntax error|SyntaxError)\b/;
const WEBPACK = /^ERROR in (?:\.\/)?([\w./@-]{1,300}\.\w{1,6})(?: (\d{1,7}):\d)?/;
const INDENTED_PLACE = /^\s{2,6}([\w./@-]{1,300}\.\w{1,6}):(\d{1,7}):\d{1,7}:$/;
const NEXT_PLACE = /^\.\/([\w./@()[\]-]{1,300}\.\w{1,6}):(\d{1,7}):\d{1,7}$/;
const PRETTIER = /^(?:\[error\] )?([\w./@-]{1,300}\.\w{1,6}): (SyntaxError): .{0,300}\((\d{1,7}):\d{1,7}\)$/;
const RESOLVE_FROM =
  /^(?:.{0,60})?(Could not resolve|Failed to resolve import|Rollup failed to resolve import) ["'][^"']{1,200}["'] (?:from|in) ["']?([\w./@\\-]{1,300})/;
/** Pyright names the rule at the end of a message of several lines. */
const PYRIGHT_RULE = /^\s{4,8}.{1,300}\((report\w{3,60})\)$/;
const RUFF_CODE = /^([A-Z]{1,4}\d{3,4})(?: \[\*\])? /;
const ARROW = /^\s{0,8}--> (\S{1,300}\.py):(\d{1,7})/;

/** Compilers, linters and bundlers: one line per error with its location, or the location on a line of its own. */
export function createCompilerReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let linted: string | undefined;
  /** A message that waits for its place, or a place that waits for its message. */
  let waiting: { kind?: string; file?: string; line?: number } = {};
  /** An error inside a system header: the user's line that led there was printed before it. */
  let led: { readonly file: string; readonly line: number } | undefined;
  const add = (finding: ErrorFinding) => {
    const own = finding.file !== undefined && SYSTEM_HEADER.test(finding.file) ? led : undefined;
    if (findings.length < MOST) findings.push(own === undefined ? finding : { ...finding, ...own });
  };
  const readPending = (text: string): boolean => {
    const { kind, file, line } = waiting;
    if (file !== undefined) {
      const trimmed = text.trim().replace(/^•\s/, '');
      const named = SHELLCHECK.exec(text)?.[1];
      if (named === undefined && line !== undefined && linted === 'shellcheck') return false;
      const what = named ?? (kind === 'haskell' ? kindOfMessage(trimmed) : messageOf(trimmed));
      waiting = {};
      add({ kind: what ?? 'CompileError', file, ...(line === undefined ? {} : { line }) });
      return true;
    }
    if (kind === undefined) return false;
    const place =
      INDENTED_PLACE.exec(text) ??
      ARROW.exec(text) ??
      /^\s{2,6}File: (\S{1,300}?):(\d{1,7}):\d{1,7}$/.exec(text);
    if (place?.[1] === undefined) return false;
    add({ kind, file: place[1], line: Number(place[2]) });
    waiting = {};
    return true;
  };
  return {
    line: (text) => {
      if (readPending(text)) return;
      const rule = text.endsWith(')') ? PYRIGHT_RULE.exec(text)?.[1] : undefined;
      const unnamed = rule === undefined ? undefined : findings.at(-1);
      if (rule !== undefined && unnamed?.file?.endsWith('.py'))
        findings[findings.length - 1] = { ...unnamed, kind: rule };
      const alone = text.trim();
      if (!alone.includes(' ') && SOURCE_FILE.test(alone)) linted = alone;
      const from = text.endsWith('required from here') ? INSTANTIATED.exec(text) : null;
      if (from?.[1] !== undefined) led = { file: from[1], line: Number(from[2]) };
      const next = placeFirst(text);
      if (next !== undefined) {
        waiting = next;
        if (next.kind === 'shellcheck') linted = 'shellcheck';
        return;
      }
      const message = messageFirst(text);
      if (message !== undefined) waiting = { kind: message };
      const found =
        readWhole(text) ?? readColons(text) ?? readLintRow(text, linted) ?? readShell(text) ?? readPerl(text);
      if (found !== undefined) add(found);
    },
    found: () => findings,
  };
}

/** A place whose message is on the next line. */
function placeFirst(text: string): { kind?: string; file: string; line?: number } | undefined {
  const check = SHELLCHECK_FILE.exec(text);
  if (check?.[1] !== undefined) return { kind: 'shellcheck', file: check[1], line: Number(check[2]) };
  const place = NEXT_PLACE.exec(text) ?? WEBPACK.exec(text);
  if (place?.[1] !== undefined)
    return { file: place[1], ...(place[2] === undefined ? {} : { line: Number(place[2]) }) };
  const haskell = /^(\S{1,300}\.l?hs):(\d{1,7}):\d{1,7}: error:$/.exec(text);
  return haskell?.[1] === undefined
    ? undefined
    : { kind: 'haskell', file: haskell[1], line: Number(haskell[2]) };
}

/** A message whose place is on one of the next lines. */
function messageFirst(text: string): string | undefined {
  const ruff = RUFF_CODE.exec(text)?.[1];
  if (ruff !== undefined) return ruff;
  const bundled = BUNDLER.exec(text);
  return bundled === null ? /\b(Failed to resolve import)\b/.exec(text)?.[1] : messageOf(bundled[1] ?? text);
}

function messageOf(text: string): string | undefined {
  const known =
    /^(Module not found|Module parse failed|Type error|Syntax error|SyntaxError|Could not resolve|Transform failed)\b/.exec(
      text,
    )?.[1];
  if (known === 'Syntax error') return 'SyntaxError';
  const kind = known ?? kindOfMessage(text);
  return kind === 'syntax error' ? 'SyntaxError' : kind;
}

type Reading = (text: string) => ErrorFinding | undefined;

const at = (kind: string, file: string | undefined, line: string | undefined): ErrorFinding | undefined =>
  file === undefined ? undefined : { kind, file, ...(line === undefined ? {} : { line: Number(line) }) };

/** Lines that have their kind and their place, each in its own form. */
const WHOLE: readonly Reading[] = [
  (text) => {
    const match = text.includes('error ') ? BRACKETED.exec(text) : null;
    return match?.[3] === undefined ? undefined : at(match[3], match[1], match[2]);
  },
  (text) => {
    const match = text.includes(' : ') ? PROJECT.exec(text) : null;
    if (match?.[2] === undefined) return undefined;
    return match[1] === 'MSBUILD' || match[1]?.endsWith('.obj')
      ? { kind: match[2] }
      : at(match[2], match[1], undefined);
  },
  (text) => {
    const match = text.includes(':[') ? MAVEN.exec(text) : text.startsWith('e: ') ? KOTLIN.exec(text) : null;
    return match?.[3] === undefined
      ? undefined
      : at(kindOfMessage(match[3]) ?? 'CompileError', match[1], match[2]);
  },
  (text) => {
    const match = text.startsWith('-- ') ? SCALA3.exec(text) : null;
    return match === null ? undefined : at(match[1] ?? 'CompileError', match[2], match[3]);
  },
  (text) => {
    const match = text.includes('.dart') ? DART_ROW.exec(text) : null;
    if (match === null) return undefined;
    return at(match[3] ?? match[6] ?? 'error', match[1] ?? match[4], match[2] ?? match[5]);
  },
  (text) => {
    const match = text.startsWith('CMake Error at') ? CMAKE.exec(text) : null;
    return match === null ? undefined : at('CMake Error', match[1], match[2]);
  },
  (text) => {
    const match = text.includes('*** ') ? MAKE_PLACE.exec(text) : null;
    return match?.[3] === undefined
      ? undefined
      : at(fixedWords(match[3]) ?? 'make failed', match[1], match[2]);
  },
  (text) => {
    const match = text.includes('Assertion ') ? ASSERTED.exec(text) : null;
    return match === null ? undefined : at('Assertion failed', match[1] ?? match[3], match[2] ?? match[4]);
  },
  (text) => {
    const match = text.includes('Fatal error: ') ? SWIFT_FATAL.exec(text) : null;
    if (match?.[3] === undefined) return undefined;
    const kind = match[3].startsWith('Index out of range') ? 'Fatal error Index out of range' : 'Fatal error';
    return match[1]?.startsWith('Swift/') ? { kind } : at(kind, match[1], match[2]);
  },
  (text) => {
    const match = text.includes('SyntaxError') ? PRETTIER.exec(text) : null;
    return match === null ? undefined : at('SyntaxError', match[1], match[3]);
  },
  (text) => {
    const match = text.includes('resolve') ? RESOLVE_FROM.exec(text) : null;
    return match?.[1] === undefined || text.includes('[vite]')
      ? undefined
      : at(match[1], match[2], undefined);
  },
];

function readWhole(text: string): ErrorFinding | undefined {
  for (const read of WHOLE) {
    const found = read(text);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Most other tools: `file:12:5: …`, with the message after the location. */
function readColons(text: string): ErrorFinding | undefined {
  if (!text.includes(':')) return undefined;
  const linked = text.includes(': ') ? readLinker(text) : undefined;
  if (linked !== undefined) return linked;
  const place = COLONS.exec(text.trimStart());
  if (place?.[1] === undefined || /^\d{1,4}$/.test(place[1])) return undefined;
  // Frames of a panic look alike but for the colon.
  if (place[1].endsWith('.go') && !place[0].endsWith(':')) return undefined;
  const rest = text.trimStart().slice(place[0].length).trim();
  const kind = kindOf(place[1], rest, text);
  return kind === undefined ? undefined : { kind, file: place[1], line: Number(place[2]) };
}

function readLinker(text: string): ErrorFinding | undefined {
  const kind = /undefined reference to |multiple definition of /.test(text) ? kindOfMessage(text) : undefined;
  if (kind === undefined) return undefined;
  const match = /([\w./+-]{1,300}\.\w{1,4}):(\d{1,7}): (?:undefined|multiple)/.exec(text);
  if (match !== null) return at(kind, match[1], match[2]);
  const source = /([\w./+-]{1,300}\.(?:c|cc|cpp|cxx)):\(\.text/.exec(text)?.[1];
  return source === undefined ? { kind } : { kind, file: source };
}

function kindOf(file: string, rest: string, text: string): string | undefined {
  const typescript = /^- error (TS\d{4,5})/.exec(rest)?.[1];
  if (typescript !== undefined) return typescript;
  if (text.startsWith('error: cannot parse: ')) return 'SyntaxError';
  if (text.startsWith('psql:')) return undefined;
  const error = /^(?:- )?(?:fatal )?error: ?(?:\[(GHC-\d{3,6})\]$)?(.{0,240})/i.exec(rest);
  if (error !== null)
    return error[1] ?? codeIn(file, error[2] ?? '') ?? kindOfMessage(error[2] ?? '') ?? 'CompileError';
  if (text.startsWith('e: ')) return kindOfMessage(rest) ?? 'CompileError';
  if (rest.startsWith('runtime error: ')) return kindOfMessage(rest.slice(15)) ?? 'runtime error';
  if (file.endsWith('.py')) return /^([A-Z]{1,4}\d{3,4})\b/.exec(rest)?.[1];
  if (file.endsWith('.rb')) return /^[CWEF]: (?:\[Correctable\] )?([A-Z]\w{1,40}\/\w{1,60}):/.exec(rest)?.[1];
  if (file.endsWith('.scala')) return kindOfMessage(rest);
  if (
    file.endsWith('.go') &&
    !/\s/.test(file) &&
    rest !== '' &&
    !(file.endsWith('_test.go') && !text.startsWith(file))
  )
    return (
      GO_LINT.exec(rest)
        ?.slice(1)
        .find((name) => name !== undefined) ??
      kindOfMessage(rest) ??
      'CompileError'
    );
  return undefined;
}

const GO_LINT =
  /^((?:SA|ST|QF|S)\d{4}):|\((errcheck|govet|ineffassign|unused|staticcheck|gosimple|revive|gocritic|gosec|lll|gofmt|typecheck)\)$/;

/** The code in brackets at the end: `[assignment]` of mypy, `[-Werror=unused-variable]` of gcc. */
function codeIn(file: string, message: string): string | undefined {
  if (file.endsWith('.py')) {
    const mypy = /\[([a-z-]{3,40})\]$/.exec(message)?.[1];
    return mypy === undefined ? /\((report\w{3,60})\)$/.exec(message)?.[1] : `mypy ${mypy}`;
  }
  const flag = /\[(-W(?:error=)?[\w+-]{2,50})\]$/.exec(message)?.[1];
  if (flag?.startsWith('-Werror=')) return flag;
  return /XCTAssert\w{0,30} failed/.exec(message)?.[0];
}

/** Perl: `words at file line 12.` */
function readPerl(text: string): ErrorFinding | undefined {
  const match = text.includes(' line ') ? PERL.exec(text) : null;
  if (match?.[1] === undefined || match[2] === undefined || NO_KIND.test(match[1])) return undefined;
  const kind =
    PERL_KINDS.find(([, pattern]) => pattern.test(match[1] ?? ''))?.[0] ??
    (match[1].startsWith('#') ? 'TestFailure' : 'die');
  return { kind, file: match[2].replace(/^-e?$/, '<inline>'), line: Number(match[3]) };
}

/** ESLint names the file once, above its rows. */
function readLintRow(text: string, file: string | undefined): ErrorFinding | undefined {
  const row = file === undefined || !text.includes('error') ? null : LINT_ROW.exec(text);
  if (row?.[2] === undefined || file === undefined) return undefined;
  const kind = row[2].startsWith('Parsing error')
    ? 'Parsing error'
    : (LINT_RULE.exec(text)?.[1] ?? 'eslint error');
  return { kind, file, line: Number(row[1]) };
}

function readShell(text: string): ErrorFinding | undefined {
  const match = text.includes(': ') ? SHELL_LINE.exec(text) : null;
  if (match?.[1] === undefined || match[3] === undefined) return undefined;
  const kind = SHELL_KINDS.find(([, words]) => words.test(match[3] ?? ''))?.[0];
  if (kind === undefined) return undefined;
  return IS_SHELL.test(match[1]) ? { kind } : { kind, file: match[1], line: Number(match[2]) };
}
