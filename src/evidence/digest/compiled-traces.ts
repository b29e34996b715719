import { deepestOwn, type ErrorFinding, type Frame, type LineReader, readPlace } from './finding.ts';
import { kindOfMessage } from './message-kind.ts';

const MOST = 40;
const JVM_KIND =
  /^\s{0,8}(?:Exception in thread "[^"\n]{0,120}" |Caused by: |\[ERROR\]\s{1,4}|Suppressed: )?((?:[a-z_]\w{0,60}\.){1,12}[A-Z][\w$]{0,80})(?::|$| at (\w{1,80}\.(?:java|kt|scala|groovy)):(\d{1,7})$)/;
const JVM_FRAME =
  /^\s{1,12}at (?:[\w.-]{1,80}\/\/?)?([\w$.<>]{1,300})\(([\w$-]{1,120}\.(?:java|kt|scala|groovy)):(\d{1,7})\)/;
const JVM_FOREIGN =
  /^(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|org\.(?:springframework|junit|opentest4j|apache|hibernate|gradle|jetbrains|mockito|eclipse|assertj|hamcrest|testng|slf4j|scalatest)|io\.(?:netty|micrometer|quarkus)|reactor|com\.(?:fasterxml|google\.common|zaxxer|mysql)|akka)\./;

/** Java and Kotlin: the deepest frame first; the last "Caused by" is the root. */
export function createJvmReader(): LineReader {
  const chains: { readonly kind: string; readonly frames: Frame[] }[][] = [];
  return {
    line: (text) => {
      const kind = text.includes('.') ? JVM_KIND.exec(text) : null;
      if (kind?.[1] !== undefined && chains.length < MOST) {
        const frames = kind[2] === undefined ? [] : [{ file: kind[2], line: Number(kind[3]) }];
        if (text.trimStart().startsWith('Caused by: ')) chains.at(-1)?.unshift({ kind: kind[1], frames });
        else chains.push([{ kind: kind[1], frames }]);
        return;
      }
      const frame = text.includes('at ') ? JVM_FRAME.exec(text) : null;
      if (frame?.[1] === undefined || frame[2] === undefined) return;
      const file = JVM_FOREIGN.test(frame[1]) ? `/usr/lib/${frame[2]}` : frame[2];
      const frames = chains.at(-1)?.[0]?.frames;
      if (frames !== undefined && frames.length < 200) frames.push({ file, line: Number(frame[3]) });
    },
    found: () =>
      chains
        .flat()
        .filter(({ frames }) => frames.length > 0)
        .map(({ kind, frames }) => ({
          kind: kind.slice(Math.max(kind.lastIndexOf('.'), kind.lastIndexOf('$')) + 1),
          ...deepestOwn(frames),
        })),
  };
}

const NET_KIND =
  /^\s{0,12}(?:Unhandled [Ee]xception\.? ?:? ?|---> |\[ERROR\] FATAL UNHANDLED EXCEPTION: )?((?:[A-Z]\w{0,60}\.){0,8}[A-Z]\w{0,60}Exception)(?: ?:|$)/;
const NET_FRAME = /^\s{1,12}at .{1,400} in (.{1,300}):(?:line )?(\d{1,7})\s*$/;
const NET_ASSERT =
  /^\s{0,8}Assert\.\w{1,40}\(\) Failure|^\s{0,8}Expected: .{0,200}But was:|^\s{0,8}Assert\.\w{1,40} failed/;

/** .NET: only frames of the user's own code have a file. */
export function createNetReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let kind: string | undefined;
  return {
    line: (text) => {
      const name = text.includes('Exception') ? NET_KIND.exec(text)?.[1] : undefined;
      if (name !== undefined) kind = name.slice(name.lastIndexOf('.') + 1);
      else if (NET_ASSERT.test(text)) kind = 'TestFailure';
      if (kind === undefined || !text.includes(' in ')) return;
      const frame = NET_FRAME.exec(text);
      if (frame?.[1] === undefined || frame[1].startsWith('<')) return;
      if (findings.length < MOST) findings.push({ kind, file: frame[1], line: Number(frame[2]) });
      kind = undefined;
    },
    found: () => findings,
  };
}

const MOST_FRAMES = 200;

/** Crashes as they are printed: what happened, then the frames, the deepest first. */
function createCrashes() {
  const findings: ErrorFinding[] = [];
  let kind: string | undefined;
  let frames: Frame[] = [];
  const end = (): readonly ErrorFinding[] => {
    if (kind !== undefined && findings.length < MOST) findings.push({ kind, ...deepestOwn(frames) });
    kind = undefined;
    frames = [];
    return findings;
  };
  return {
    isOpen: () => kind !== undefined,
    begin: (next: string): void => {
      end();
      kind = next;
    },
    addFrame: (frame: Frame): void => {
      if (frames.length < MOST_FRAMES) frames.push(frame);
    },
    end,
  };
}

const GO_REASONS: readonly (readonly [string, string])[] = [
  ['index out of range', 'panic index out of range'],
  ['nil pointer dereference', 'panic nil pointer'],
  ['nil map', 'panic nil map'],
  ['integer divide by zero', 'panic divide by zero'],
  ['slice bounds out of range', 'panic slice bounds out of range'],
  ['interface conversion', 'panic interface conversion'],
  ['all goroutines are asleep', 'deadlock'],
  ['concurrent map', 'panic concurrent map'],
  ['send on closed channel', 'panic send on closed channel'],
  ['test timed out after', 'panic test timed out'],
];
const GO_PANIC =
  /^(?:\S{1,40} \S{1,40} )?(?:http: )?(panic|fatal error|SIGSEGV)(?: serving [\d.:[\]]{1,60})?: /;

/** Go: `panic: …`, then the goroutine with the deepest frame first. */
export function createGoReader(): LineReader {
  const crashes = createCrashes();
  return {
    line: (text) => {
      if (text.startsWith('WARNING: DATA RACE')) crashes.begin('data race');
      const panic =
        text.includes('panic') || text.startsWith('fatal error') ? GO_PANIC.exec(text)?.[1] : undefined;
      if (panic !== undefined) {
        const reason = GO_REASONS.find(([words]) => text.includes(words))?.[1];
        if (!crashes.isOpen() && (panic === 'panic' || reason !== undefined))
          crashes.begin(reason ?? 'panic');
      }
      if (!crashes.isOpen() || !text.includes('.go:')) return;
      const place = /^(?:\t| {4,8})(\S{1,300}\.go):(\d{1,7})(?: |$)/.exec(text);
      if (place?.[1] !== undefined) crashes.addFrame({ file: place[1], line: Number(place[2]) });
    },
    found: crashes.end,
  };
}

/** Rust: a panic, or `error[E0382]` with its place on a line of its own. */
export function createRustReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let code: string | undefined;
  let isPanic = false;
  const relabel = (kind: string) => {
    const last = findings.pop();
    if (last !== undefined) findings.push({ ...last, kind });
  };
  return {
    line: (text) => {
      if (isPanic && /^assertion /.test(text)) relabel('panic assertion failed');
      isPanic = false;
      if (text.startsWith("thread '") && text.includes(' panicked at ')) {
        if (findings.length < MOST) findings.push({ kind: 'panic', ...readPlace(text, 2) });
        isPanic = true;
        return;
      }
      const error = text.startsWith('error') ? /^error(?:\[(E\d{4})\])?: (.{1,200})/.exec(text) : null;
      if (error?.[2] !== undefined) code = error[1] ?? kindOfMessage(error[2]) ?? 'CompileError';
      const lint = /#\[(?:deny|forbid)\((clippy::\w{1,60})\)\]/.exec(text)?.[1];
      if (lint !== undefined && findings.length > 0) relabel(lint);
      const arrow = /^\s{0,8}--> /.test(text) ? readPlace(text, 2) : undefined;
      if (arrow === undefined || code === undefined) return;
      if (findings.length < MOST) findings.push({ kind: code, ...arrow });
      code = undefined;
    },
    found: () => findings,
  };
}

const SANITIZER = /(Address|Leak|Thread|Memory|UndefinedBehavior)Sanitizer: ([a-z-]{3,40}(?: [a-z]{3,20})?)/;
const NATIVE_FRAME =
  /^\s{0,6}#\d{1,4}\s{1,3}(?:0x[0-9a-f]{1,16} in )?.{0,300}?\s(?:at )?(\/?[\w.+/-]{1,300}\.(?:c|cc|cpp|cxx|h|hpp|hh|m|mm|rs|go|swift)):(\d{1,7})(?::\d{1,7})?(?: \([^()]{1,200}\))?$/;
const VALGRIND =
  /^==\d{1,9}==\s{1,3}(Invalid (?:read|write|free)|Conditional jump|Use of uninitiali[sz]ed|Mismatched free|Source and destination overlap)/;
const VALGRIND_FRAME =
  /^==\d{1,9}==\s{1,6}(?:at|by) 0x[0-9A-Fa-f]{1,16}: .{1,200}\(([\w.+-]{1,200}):(\d{1,7})\)$/;
const SIGNAL = /^(?:Program|Thread .{1,60}) (?:received|terminated with) signal (SIG[A-Z]{2,6})/;
const GDB_PLACE = / at ([\w.+/-]{1,300}):(\d{1,7})$/;

/** C and C++: sanitizers, Valgrind and gdb print the frames of a crash, the deepest first. */
export function createNativeReader(): LineReader {
  const crashes = createCrashes();
  return {
    line: (text) => {
      const found = text.includes('Sanitizer: ') ? SANITIZER.exec(text) : null;
      const first = text.charCodeAt(0);
      const named =
        (found?.[2] !== undefined && !text.startsWith('SUMMARY') ? sanitized(found[2]) : undefined) ??
        (first === 0x3d ? VALGRIND.exec(text)?.[1] : undefined) ??
        (text.includes(' signal SIG') ? SIGNAL.exec(text)?.[1] : undefined);
      if (named !== undefined) return crashes.begin(named);
      if (!crashes.isOpen()) return;
      const frame =
        first === 0x3d
          ? VALGRIND_FRAME.exec(text)
          : text.includes('#')
            ? NATIVE_FRAME.exec(text)
            : GDB_PLACE.exec(text);
      if (frame?.[1] !== undefined) crashes.addFrame({ file: frame[1], line: Number(frame[2]) });
    },
    found: crashes.end,
  };
}

const sanitized = (words: string): string | undefined => {
  if (words.startsWith('detected')) return 'memory leak';
  if (words.startsWith('reported')) return undefined;
  return words.startsWith('data') ? 'data race' : (words.split(' ', 1)[0] ?? words);
};

const ELIXIR_KIND =
  /^\s{0,8}\*\* \(((?:[A-Z]\w{0,60}\.){0,6}[A-Z]\w{0,60})\) (?:([\w./-]{1,300}\.exs?):(\d{1,7}))?/;
const ELIXIR_FRAME =
  /^\s{2,12}(?:\((\w{1,60}) [\d.]{1,20}[\w.+-]{0,30}\) )?([\w./-]{1,300}\.(?:exs?|erl|eex|heex)):(\d{1,7}): /;
const ELIXIR_LIBRARY =
  /^(?:elixir|stdlib|kernel|ex_unit|mix|phoenix\w{0,30}|plug\w{0,30}|ecto\w{0,30}|bandit|cowboy|ranch|db_connection|postgrex|jason|telemetry|compiler)$/;
const ELIXIR_ARROW = /^\s{1,8}└─ ([\w./-]{1,300}\.exs?):(\d{1,7})/;

/** Elixir: `** (Kind) words`, then the frames, the deepest first. */
export function createElixirReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let kind: string | undefined;
  let arrow: Frame | undefined;
  let frames: Frame[] = [];
  const end = () => {
    const own = deepestOwn(frames);
    if (kind !== undefined && own !== undefined && findings.length < MOST)
      findings.push(own.file.startsWith('/usr/lib/') ? { kind } : { kind, ...own });
    kind = undefined;
    frames = [];
  };
  return {
    line: (text) => {
      const named = text.includes('** (') ? ELIXIR_KIND.exec(text) : null;
      if (named?.[1] !== undefined) {
        end();
        kind =
          named[1] === 'ExUnit.AssertionError'
            ? 'AssertionError'
            : named[1].slice(named[1].lastIndexOf('.') + 1);
        if (arrow !== undefined && kind === 'CompileError') frames.push(arrow);
        else if (named[2] !== undefined) frames.push({ file: named[2], line: Number(named[3]) });
        return;
      }
      if (
        /^\s{3,8}(?:Assertion with |Expected (?:truthy|false)|code: {2}assert)/.test(text) &&
        kind === undefined
      )
        kind = 'AssertionError';
      if (!text.includes('.e') && !text.includes('.erl')) return;
      const place = ELIXIR_ARROW.exec(text);
      if (place?.[1] !== undefined) arrow ??= { file: place[1], line: Number(place[2]) };
      const frame = kind === undefined ? null : ELIXIR_FRAME.exec(text);
      if (frame?.[2] === undefined || frames.length >= 200) return;
      const isLibrary = frame[1] !== undefined && ELIXIR_LIBRARY.test(frame[1]);
      frames.push({ file: isLibrary ? `/usr/lib/${frame[2]}` : frame[2], line: Number(frame[3]) });
    },
    found: () => {
      end();
      return findings;
    },
  };
}

const DART_FRAME =
  /^#\d{1,4}\s{1,8}.{1,200} \(((?:package|file|dart):[^\s():]{1,300}\.dart):(\d{1,7})(?::\d{1,7})?\)$/;
const DART_KIND =
  /^(?:Unhandled exception: ?|The following )?(_?[A-Z]\w{0,60}(?:Error|Exception))(?: \(\w{1,40}\))?(?::| was thrown|$)/;

/** Dart and Flutter: the message, then `#0 name (package:app/file.dart:3:1)`. */
export function createDartReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let kind: string | undefined;
  let frames: Frame[] = [];
  let isNext = false;
  const end = () => {
    if (frames.length > 0 && findings.length < MOST)
      findings.push({ kind: kind ?? 'Exception', ...deepestOwn(frames) });
    kind = undefined;
    frames = [];
  };
  return {
    line: (text) => {
      const frame = text.charCodeAt(0) === 0x23 ? DART_FRAME.exec(text) : null;
      if (frame?.[1] !== undefined) {
        if (frame[1].length < 300 && frames.length < 200)
          frames.push({ file: frame[1], line: Number(frame[2]) });
        return;
      }
      if (frames.length > 0) end();
      const named = DART_KIND.exec(text)?.[1];
      if (named !== undefined) kind = named.replace(/^_/, '');
      else if (isNext && text.startsWith('Null check operator')) kind = 'Null check operator';
      isNext = text.startsWith('Unhandled exception:');
    },
    found: () => {
      end();
      return findings;
    },
  };
}
