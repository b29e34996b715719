import { deepestOwn, type ErrorFinding, type Frame, type LineReader, readPlace } from './finding.ts';
import { kindOfMessage } from './message-kind.ts';

const THROWN =
  /^(?:Uncaught |\[cause\]: |Unhandled Rejection: |→ |● |Error: Uncaught |error: Uncaught |Unhandled error: )?(?:\(in promise\) )?([A-Za-z_]\w{0,60}(?:Error|Exception)|Error|DOMException)(?: \[(\w{1,60})\])?(?::|$| \{)/;
/** Classes whose names do not end in "Error": only a frame below tells them from prose. */
const MAYBE =
  /^(?:error: )?(?:Uncaught )?(?:\(in promise\) )?([A-Z][a-z]{1,40}[A-Z]\w{0,60})(?: \[(\w{1,60})\])?: /;
const CODE = /^\s{1,12}(?:code|errno): '([A-Z][A-Z0-9_]{2,40})'/;
/** Tells JavaScript frames from Rust's, which look alike. */
const SCRIPT = /\.(?:[cm]?[jt]sx?|vue|svelte)$|^(?:node|bun|https?|webpack-internal|ext):|^<anonymous>$/;
const HEADER = /^(?:file:\/\/)?[\w./\\:-]{1,300}\.[cm]?[jt]sx?:\d{1,7}$/;
const IMPORTED_FROM = / (?:imported )?from '?(\/[^\s']{1,300}\.[cm]?[jt]sx?)'?$/;
/** Babel and others put the place into the message: `SyntaxError: /w/a.js: Unexpected token (3:10)`. */
const IN_MESSAGE = /: (\/[^\s:]{1,300}\.[cm]?[jt]sx?): .{1,200} \((\d{1,7}):\d{1,7}\)$/;
const FAILED_FILE = /^FAIL {1,3}([\w./@-]{1,200}\.[cm]?[jt]sx?)/;
const EXPECTATION = /^(?:Error: |error: )?expect\(.{1,40}\)\.|^expected /;
const NO_MODULE = /^Cannot find (?:module|package) /;
const TIMED_OUT =
  /^(?:Error: )?(?:thrown: "Exceeded timeout of|Timed out \d{1,9}ms|Test timed out in|Timeout of \d{1,9}ms exceeded)/;
const DULL_CODES: ReadonlySet<string> = new Set(['ERR_ASSERTION', 'ERR_TEST_FAILURE', 'ABORT_ERR']);

interface Thrown {
  kind: string;
  code: string | undefined;
  readonly frames: Frame[];
  place?: Frame | undefined;
  file?: string | undefined;
}

/** JavaScript: the error, then its frames, the deepest first; a syntax error has its location above it. */
export function createJavaScriptReader(): LineReader {
  const findings: ErrorFinding[] = [];
  /** Errors without a frame of the user's own code. */
  const distant = new Set<ErrorFinding>();
  let thrown: Thrown | undefined;
  let maybe: { readonly kind: string; readonly code: string | undefined } | undefined;
  let header: Frame | undefined;
  let suite: string | undefined;
  const end = () => {
    if (thrown === undefined) return;
    const { kind, code, frames, file } = thrown;
    const own = deepestOwn(frames);
    const at = thrown.place ?? (kind === 'SyntaxError' && header !== undefined ? header : (own ?? header));
    const isForeign =
      at === undefined || (at === own && !frames.some((frame) => frame === own && isOwn(frame)));
    const place =
      isForeign && file !== undefined
        ? { file }
        : (at ?? (suite === undefined ? undefined : { file: suite }));
    if (place !== undefined && findings.length < 40) {
      const finding: ErrorFinding = { kind: kindWith(kind, code), ...place };
      findings.push(finding);
      if (isForeign && file === undefined) distant.add(finding);
    }
    thrown = undefined;
    header = undefined;
  };
  const begin = (kind: string, code: string | undefined, text: string) => {
    const before = header;
    end();
    header = before;
    thrown = { kind, code, frames: [], file: IMPORTED_FROM.exec(text)?.[1] };
    const place = IN_MESSAGE.exec(text);
    if (place?.[1] !== undefined) thrown.place = { file: place[1], line: Number(place[2]) };
  };
  return {
    line: (text) => {
      const trimmed = text.trim();
      const isFrame = trimmed.startsWith('at ') || trimmed.startsWith('❯ ');
      if (!isFrame) {
        const name = THROWN.exec(trimmed);
        if (TIMED_OUT.test(trimmed)) begin('TestTimeout', undefined, trimmed);
        else if (EXPECTATION.test(trimmed)) {
          if (thrown === undefined || thrown.frames.length > 0) begin('AssertionError', undefined, trimmed);
        } else if (NO_MODULE.test(trimmed)) begin('Cannot find module', undefined, trimmed);
        else if (name?.[1] !== undefined) begin(name[1], name[2], trimmed);
        else if (trimmed !== '') {
          const named = MAYBE.exec(trimmed);
          if (named?.[1] !== undefined) maybe = { kind: named[1], code: named[2] };
          suite = FAILED_FILE.exec(trimmed)?.[1] ?? suite;
          if (HEADER.test(trimmed)) header = readPlace(trimmed, 1);
          const code = thrown === undefined ? undefined : CODE.exec(text)?.[1];
          if (code !== undefined && thrown !== undefined) thrown.code ??= code;
        }
        return;
      }
      const frame = readPlace(trimmed.replace(/ \{$/, ''), 2);
      if (frame === undefined || !SCRIPT.test(frame.file)) return;
      if (thrown === undefined) {
        if (maybe === undefined) return;
        begin(maybe.kind, maybe.code, '');
      }
      maybe = undefined;
      if (thrown !== undefined && thrown.frames.length < 200) thrown.frames.push(frame);
    },
    found: () => {
      end();
      const isNear = (kind: string) => findings.some((other) => other.kind === kind && !distant.has(other));
      return findings.filter((finding) => !distant.has(finding) || !isNear(finding.kind));
    },
  };
}

const isOwn = (frame: Frame): boolean => !/node_modules\/|^node:|^ext:|^internal\//.test(frame.file);

function kindWith(kind: string, code: string | undefined): string {
  if (code === undefined || DULL_CODES.has(code)) return kind;
  return kind === 'Error' ? code : `${kind} ${code}`;
}

const RUBY_FRAME =
  /^(?:\t| {2,8})?(?:from |# )?((?:[\w./:-]|<internal:){1,300}\.(?:rb|erb|rake|haml|slim)>?|-e):(\d{1,7})(?::in |$)/;
const RUBY_KIND = /\(([A-Z]\w{0,60}(?:::\w{1,60}){0,4})\)\s*$/;
const RUBY_NAMED =
  /^\s{0,8}([A-Z]\w{0,60}(?:::[A-Z]\w{0,60}){0,4}(?:Error|Exception|Invalid|NotFound|Interrupt)|[A-Z]\w{0,60}(?:::[A-Z]\w{0,60}){1,4})(?: \(.{1,300}\))?:(?: |$)/;
const RUBY_SYNTAX = /^([\w./-]{1,300}\.rb):(\d{1,7}): syntax error/;
const MINITEST = /^\S{1,120}#\S{1,120} \[(\S{1,300}\.rb):(\d{1,7})\]:$/;

/** Ruby: `file:line:in 'method': words (Kind)`, then the callers; Rails, Rake and the test runners name the kind first. */
export function createRubyReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let kind: string | undefined;
  let frames: Frame[] = [];
  const end = () => {
    if (kind !== undefined && frames.length > 0 && findings.length < 40)
      findings.push({ kind, ...deepestOwn(frames) });
    kind = undefined;
    frames = [];
  };
  return {
    line: (text) => {
      const place = RUBY_FRAME.exec(text);
      if (place?.[1] !== undefined) {
        const named = RUBY_KIND.exec(text)?.[1];
        if (named !== undefined && !text.startsWith('\t')) end();
        kind ??= named;
        if (kind !== undefined && frames.length < 200)
          frames.push({ file: place[1], line: Number(place[2]) });
        return;
      }
      const trimmed = text.trim();
      if (trimmed.startsWith('Failure/Error:') || /^\d{1,4}\) (?:Failure|Error):$/.test(trimmed)) {
        end();
        if (trimmed.startsWith('Failure/Error:')) kind = 'TestFailure';
        return;
      }
      const claim = MINITEST.exec(trimmed);
      if (claim?.[1] !== undefined)
        findings.push({ kind: 'TestFailure', file: claim[1], line: Number(claim[2]) });
      const syntax = RUBY_SYNTAX.exec(trimmed);
      if (syntax?.[1] !== undefined)
        findings.push({ kind: 'SyntaxError', file: syntax[1], line: Number(syntax[2]) });
      const name = RUBY_NAMED.exec(text)?.[1];
      if (name === undefined) return;
      if (frames.length > 0) end();
      kind = name;
    },
    found: () => {
      end();
      return findings;
    },
  };
}

const PHP =
  /^(?:PHP )?(Fatal error|Parse error|Warning|Notice|Recoverable fatal error|Deprecated):\s{1,3}(?:Uncaught ([A-Za-z_\\][\w\\]{0,120}))?/;
const PHP_ON_LINE = / in (\S{1,300}) on line (\d{1,7})$/;
const PHP_MESSAGES: readonly (readonly [string, RegExp])[] = [
  ['undefined function', /Call to undefined function/],
  ['undefined method', /Call to undefined method/],
  ['member function on null', /Call to a member function .{1,120} on (?:null|false|bool|string|array|int)/],
  ['Class not found', /(?:Class|Interface|Trait) ["'].{1,200}["'] not found/],
  ['Failed opening required', /Failed opening required/],
  ['Undefined array key', /Undefined (?:array key|index|offset)/],
  ['Undefined variable', /Undefined variable/],
  ['memory exhausted', /Allowed memory size of/],
];
const PHPUNIT_FILE = /^(\/?[\w./\\:-]{1,300}\.php):(\d{1,7})$/;
const PHPUNIT_CASE = /^\d{1,4}\) \S{1,200}::\S{1,200}/;
const PHP_CLASS = /^\s{0,4}((?:[A-Z]\w{0,60}\\){0,8}[A-Z]\w{0,60}(?:Error|Exception)|Error)(?::|$| )/;
const PHP_FRAME = /^\s{0,6}(?:at |\d{1,3}\s{1,4})([\w./-]{1,300}\.php):(\d{1,7})$/;

/** PHP: kind and location are in one line; PHPUnit and Laravel have the place below. */
export function createPhpReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let named: string | undefined;
  let frames: Frame[] = [];
  const end = () => {
    if (named !== undefined && frames.length > 0) findings.push({ kind: named, ...deepestOwn(frames) });
    named = undefined;
    frames = [];
  };
  return {
    line: (text) => {
      const kind = PHP.exec(text);
      if (kind !== null) {
        const place = PHP_ON_LINE.exec(text);
        const frame =
          place?.[1] === undefined ? readPlace(text, 1) : { file: place[1], line: Number(place[2]) };
        const words = PHP_MESSAGES.find(([, pattern]) => pattern.test(text))?.[0];
        const name = kind[2]?.slice(kind[2].lastIndexOf('\\') + 1);
        const plain =
          kind[1] === 'Parse error' ? 'ParseError' : kind[1] === 'Fatal error' ? 'FatalError' : undefined;
        const what = name === undefined || name === 'Error' ? (words ?? name ?? plain) : name;
        if (what !== undefined && frame !== undefined && findings.length < 40)
          findings.push({ kind: what, ...frame });
        return;
      }
      if (PHPUNIT_CASE.test(text)) {
        end();
        named = 'TestFailure';
        return;
      }
      const name = PHP_CLASS.exec(text)?.[1];
      if (name !== undefined && (named !== undefined || name.includes('\\')))
        named = name.slice(name.lastIndexOf('\\') + 1);
      const place = named === undefined ? null : (PHPUNIT_FILE.exec(text) ?? PHP_FRAME.exec(text));
      if (place?.[1] !== undefined && frames.length < 200)
        frames.push({ file: place[1], line: Number(place[2]) });
    },
    found: () => {
      end();
      return findings;
    },
  };
}

const LUA =
  /^(?:lua(?:jit)?[\d.]{0,6}: |.{0,200}runtime error: )?([\w./-]{1,300}\.lua):(\d{1,7}): (.{1,240})/;
const LUA_FRAME = /^\s{1,8}([\w./-]{1,300}\.lua):(\d{1,7}): in /;

/** Lua: `lua: file:line: message`; an error inside a required module names the module's file. */
export function createLuaReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let isFailing = false;
  return {
    line: (text) => {
      if (!text.includes('.lua')) return;
      if (LUA_FRAME.test(text)) return;
      if (/^(?:Failure|Error) → /.test(text)) isFailing = true;
      const match = LUA.exec(text);
      if (match?.[1] === undefined || match[3] === undefined || findings.length >= 40) return;
      const kind = isFailing ? 'TestFailure' : (kindOfMessage(match[3]) ?? 'error');
      findings.push({ kind, file: match[1], line: Number(match[2]) });
      isFailing = false;
    },
    found: () => findings,
  };
}
