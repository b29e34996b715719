import { deepestOwn, type Finding, type Frame, type LineReader, readPlace } from './finding.ts';

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
  const findings: Finding[] = [];
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
  const findings: Finding[] = [];
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
