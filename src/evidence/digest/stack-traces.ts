import { deepestOwn, type ErrorFinding, type Frame, type LineReader, readPlace } from './finding.ts';

const FILE_LINE = /^\s*File "([^"]{1,400})", line (\d{1,7})/;
const RAISED = /^([A-Za-z_][\w.]{0,120})(?::|$)/;

/** The text below the frames is arbitrary; only a class name is used. */
const isClass = (kind: string): boolean => /(?:^|\.)(?:[A-Z]\w{0,80}|timeout|error|gaierror)$/.test(kind);

/** Python: frames first, the deepest last; the exception follows without indentation. */
export function createPythonReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let frames: Frame[] = [];
  return {
    line: (text) => {
      if (text.includes('Traceback (most recent call last)')) frames = [];
      const place = FILE_LINE.exec(text);
      if (place?.[1] !== undefined) frames.unshift({ file: place[1], line: Number(place[2]) });
      else if (frames.length > 0) {
        const kind = RAISED.exec(text)?.[1];
        if (kind === undefined) return;
        findings.unshift({ kind: isClass(kind) ? kind : 'Exception', ...deepestOwn(frames) });
        frames = [];
      }
    },
    found: () => findings,
  };
}

const THROWN =
  /^(?:Uncaught |\[cause\]: |Unhandled Rejection: |→ |● |Error: Uncaught )?(?:\(in promise\) )?([A-Za-z_]\w{0,60}(?:Error|Exception)|Error|DOMException)(?: \[(\w{1,60})\])?(?::|$| \{)/;
const CODE = /^\s{1,12}(?:code|errno): '([A-Z][A-Z0-9_]{2,40})'/;
/** Tells JavaScript frames from Rust's, which look alike. */
const SCRIPT = /\.(?:[cm]?[jt]sx?|vue|svelte)$|^(?:node|bun|https?|webpack-internal|ext):|^<anonymous>$/;
const HEADER = /^(?:file:\/\/)?[\w./\\:-]{1,300}\.[cm]?[jt]sx?:\d{1,7}$/;

/** JavaScript: the error, then its frames, the deepest first; a syntax error has its location above it. */
export function createJavaScriptReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let thrown: { kind: string; code: string | undefined; frames: Frame[] } | undefined;
  let header: Frame | undefined;
  let isExpectation = false;
  const end = () => {
    if (thrown === undefined || (thrown.frames.length === 0 && header === undefined)) return;
    const isSyntax = thrown.kind === 'SyntaxError' && header !== undefined;
    const place = isSyntax ? header : (deepestOwn(thrown.frames) ?? header);
    findings.push({ kind: thrown.code ? `${thrown.kind} ${thrown.code}` : thrown.kind, ...place });
    thrown = undefined;
    header = undefined;
  };
  return {
    line: (text) => {
      const trimmed = text.trim();
      const name = THROWN.exec(trimmed);
      if (name?.[1] !== undefined) {
        const before = header;
        end();
        header = before;
        thrown = { kind: name[1], code: name[2], frames: [] };
        return;
      }
      if (trimmed.includes('expect(received)') || trimmed.startsWith('expected ')) isExpectation = true;
      if (HEADER.test(trimmed)) header = readPlace(trimmed, 1);
      const code = CODE.exec(text)?.[1];
      if (code !== undefined && thrown !== undefined) thrown.code ??= code;
      if (!trimmed.startsWith('at ') && !trimmed.startsWith('❯ ')) return;
      const frame = readPlace(trimmed, 2);
      if (frame === undefined || !SCRIPT.test(frame.file)) return;
      thrown ??= { kind: isExpectation ? 'AssertionError' : 'Error', code: undefined, frames: [] };
      thrown.frames.push(frame);
    },
    found: () => {
      end();
      return findings;
    },
  };
}

const RUBY_FRAME = /^(?:\t| {2,8})?(?:from )?([\w./<>:-]{1,300}\.rb|-e):(\d{1,7}):in /;
const RUBY_KIND = /\(([A-Z]\w{0,60}(?:::\w{1,60}){0,4})\)\s*$/;

/** Ruby: `file:line:in 'method': words (Kind)`, then the callers. */
export function createRubyReader(): LineReader {
  let kind: string | undefined;
  const frames: Frame[] = [];
  return {
    line: (text) => {
      const place = RUBY_FRAME.exec(text);
      if (place?.[1] === undefined) return;
      kind ??= RUBY_KIND.exec(text)?.[1];
      if (kind !== undefined) frames.push({ file: place[1], line: Number(place[2]) });
    },
    found: () => (kind === undefined ? [] : [{ kind, ...deepestOwn(frames) }]),
  };
}

const PHP = /^(?:PHP )?(Fatal|Parse) error:\s{1,3}(?:Uncaught ([A-Za-z_\\]\w{0,60}(?:\\\w{1,60}){0,6}))?/;
const PHP_ON_LINE = / in (\S{1,300}) on line (\d{1,7})$/;

/** PHP: kind and location are in one line. */
export function createPhpReader(): LineReader {
  const findings: ErrorFinding[] = [];
  return {
    line: (text) => {
      const kind = PHP.exec(text);
      if (kind === null) return;
      const place = PHP_ON_LINE.exec(text);
      const frame =
        place?.[1] === undefined ? readPlace(text, 1) : { file: place[1], line: Number(place[2]) };
      const name = kind[2]?.slice(kind[2].lastIndexOf('\\') + 1);
      findings.push({ kind: name ?? (kind[1] === 'Parse' ? 'ParseError' : 'FatalError'), ...frame });
    },
    found: () => findings,
  };
}

const JVM_KIND =
  /^(?:Exception in thread "[^"\n]{0,120}" |Caused by: |\[ERROR\]\s{1,4})?((?:[a-z_]\w{0,60}\.){1,12}[A-Z][\w$]{0,80})(?::|$)/;
const JVM_FRAME =
  /^\s{1,12}at (?:[\w.-]{1,80}\/)?([\w$.<>]{1,300})\(([\w$-]{1,120}\.(?:java|kt|scala|groovy)):(\d{1,7})\)/;
const JVM_FOREIGN =
  /^(?:java|javax|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|org\.(?:springframework|junit|apache|hibernate|gradle|jetbrains|mockito|eclipse)|io\.netty|reactor|com\.fasterxml|akka)\./;

/** Java and Kotlin: the deepest frame first; the last "Caused by" is the root. */
export function createJvmReader(): LineReader {
  const thrown: { readonly kind: string; readonly frames: Frame[] }[] = [];
  return {
    line: (text) => {
      const kind = JVM_KIND.exec(text)?.[1];
      if (kind !== undefined) thrown.unshift({ kind, frames: [] });
      const frame = JVM_FRAME.exec(text);
      if (frame?.[1] === undefined || frame[2] === undefined) return;
      const file = JVM_FOREIGN.test(frame[1]) ? `/usr/lib/${frame[2]}` : frame[2];
      thrown[0]?.frames.push({ file, line: Number(frame[3]) });
    },
    found: () =>
      thrown
        .filter(({ frames }) => frames.length > 0)
        .map(({ kind, frames }) => ({ kind: kind.slice(kind.lastIndexOf('.') + 1), ...deepestOwn(frames) })),
  };
}

const NET_KIND = /^(?:Unhandled exception\. )?((?:[A-Z]\w{0,60}\.){0,8}[A-Z]\w{0,60}Exception)(?::|$)/;
const NET_FRAME = /^\s{1,8}at .{1,400} in (.{1,300}):line (\d{1,7})$/;

/** .NET: only frames of the user's own code have a file. */
export function createNetReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let kind: string | undefined;
  return {
    line: (text) => {
      const name = NET_KIND.exec(text)?.[1];
      if (name !== undefined) kind = name.slice(name.lastIndexOf('.') + 1);
      if (kind === undefined) return;
      const frame = NET_FRAME.exec(text);
      if (frame?.[1] === undefined) return;
      findings.push({ kind, file: frame[1], line: Number(frame[2]) });
      kind = undefined;
    },
    found: () => findings,
  };
}

const GO_REASONS: readonly (readonly [string, string])[] = [
  ['index out of range', 'index-out-of-range'],
  ['nil pointer dereference', 'nil-pointer'],
  ['nil map', 'nil-map'],
  ['integer divide by zero', 'divide-by-zero'],
  ['slice bounds out of range', 'slice-out-of-range'],
  ['interface conversion', 'interface-conversion'],
  ['all goroutines are asleep', 'deadlock'],
  ['concurrent map', 'concurrent-map'],
  ['send on closed channel', 'closed-channel'],
];

/** Go: `panic: …`, then the goroutine with the deepest frame first. */
export function createGoReader(): LineReader {
  let kind: string | undefined;
  const frames: Frame[] = [];
  return {
    line: (text) => {
      if (
        kind === undefined &&
        (text.startsWith('panic: ') || text.startsWith('fatal error: ') || text.startsWith('SIGSEGV'))
      ) {
        const reason = GO_REASONS.find(([words]) => text.includes(words))?.[1];
        if (text.startsWith('panic: ') || reason !== undefined)
          kind = reason === undefined ? 'panic' : `panic ${reason}`;
      }
      const place = /^\t(\S{1,300}\.go):(\d{1,7})(?: |$)/.exec(text);
      if (kind !== undefined && place?.[1] !== undefined)
        frames.push({ file: place[1], line: Number(place[2]) });
    },
    found: () => (kind === undefined ? [] : [{ kind, ...deepestOwn(frames) }]),
  };
}

/** Rust: a panic, or `error[E0382]` with its place on a line of its own. */
export function createRustReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let code: string | undefined;
  return {
    line: (text) => {
      const panicked = text.startsWith("thread '") ? text.indexOf(' panicked at ') : -1;
      if (panicked > 0) findings.unshift({ kind: 'panic', ...readPlace(text, 2) });
      const error = /^error(?:\[(E\d{4})\])?: /.exec(text);
      if (error !== null) code = error[1] ?? 'CompileError';
      const arrow = /^\s{0,8}--> /.test(text) ? readPlace(text, 2) : undefined;
      if (arrow === undefined || code === undefined) return;
      findings.push({ kind: code, ...arrow });
      code = undefined;
    },
    found: () => findings,
  };
}
