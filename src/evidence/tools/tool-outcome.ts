import { createTextMemo } from '../../base/text-memo.ts';
import type { ToolOutcome } from '../../core/evidence.ts';
import { headLines, tailLines } from '../../text/lines.ts';
import { countErrors, countTests } from './count-failures.ts';
import { hasFindings } from './edit-findings.ts';
import { findCommandFault, findToolFault } from './error-patterns.ts';
import { readExitCode } from './exit-status.ts';
import { readInterruption } from './interruption.ts';
import { findOutage, findOutageIn, isLocalAddress } from './outages.ts';
import { readEnvelope } from './result-envelope.ts';
import { isCheck, isEndless, isInline, isProgram, isQuestion, isReading } from './shell-command.ts';
import { type CallView, readCall } from './tool-call.ts';

/**
 * The outcome of a call.
 * `ok`: the tool reports success. `green`: checks passed. `fault`: the call was wrong. `red`: the call was right, and
 * the checked code is broken. `outage`: it failed for external reasons. `rejected`: a person did not allow it.
 * `amended`: a person changed what it wrote. `unclear`: the text does not decide it.
 */
export type OutcomeKind = 'ok' | 'green' | 'fault' | 'red' | 'outage' | 'rejected' | 'amended' | 'unclear';

export interface CallOutcome {
  readonly kind: OutcomeKind;
  /** Short; fixed wording. */
  readonly reason: string;
  /** The tool's output without the client's wrapping; for the digest. */
  readonly text: string;
  /** The reason of the person who rejected it. */
  readonly words?: string;
}

/** Exit codes of a process that was ended from outside (a time limit, a signal, the kernel). */
const ENDED: ReadonlyMap<number, string> = new Map([
  [124, 'timed out'],
  [130, 'interrupted'],
  [137, 'killed'],
  [143, 'terminated'],
]);
const TIMED_OUT_REASON = 'timed out';
/** The reason when a tool reports only that it failed. */
const VAGUE = 'the tool says so';
const CURL_OUTAGES = new Set([5, 6, 28, 35, 52, 56]);
const DONE =
  /^(?:The file .{1,400} has been (?:updated|created|edited)|File (?:created|written|updated|edited) successfully|Successfully (?:replaced|wrote|created|edited|applied|modified|updated)|Success\. Updated the following files|Edit applied successfully|Edit successful|Wrote file successfully|Created new file|The content was successfully saved|Text replaced\.|Replaced \d{1,6} occurrences|Edited \S{1,300} \(|File updated\.|Applied \d{1,6} edits?)/;

const known = createTextMemo<{
  readonly call: CallView;
  readonly isError: boolean | undefined;
  readonly read: CallOutcome;
}>();

/**
 * Reads a result in its client's format. Words like "error" in the content do not count, only what the tool reports. Every later
 * request of the session repeats the result: it is read once.
 */
export function readOutcome(call: CallView, outcome: ToolOutcome): CallOutcome {
  const { text, isError } = outcome;
  const before = known.get(text);
  if (before?.call === call && before.isError === isError) return before.read;
  const read = readResult(call, outcome);
  known.set(text, { call, isError, read });
  return read;
}

function readResult(call: CallView, outcome: ToolOutcome): CallOutcome {
  const interruption = readInterruption(call.name, outcome.text);
  if (interruption?.reason === TIMED_OUT_REASON && call.programs.some(isEndless))
    return { kind: 'fault', reason: 'a command that never ends', text: outcome.text };
  if (interruption !== undefined) return { ...interruption, text: outcome.text };
  if (call.kind === 'edit' && hasFindings(outcome.text))
    return { kind: 'red', reason: 'the edit left errors', text: outcome.text };
  const wrapped = unwrap(outcome.text);
  const envelope = readEnvelope(wrapped.text, call.kind);
  const text = envelope?.text ?? wrapped.text;
  const code = envelope?.exitCode ?? (call.kind === 'read' ? undefined : readExitCode(text, isShown(call)));
  const toolFault = call.kind === 'shell' && code !== undefined ? undefined : faultOf(call, wrapped, text);
  const isHidden = code === 0 && (isMasked(call) || isRedisError(text));
  const said = isHidden ? undefined : (envelope?.failed ?? (code === undefined ? undefined : code !== 0));
  const failed = outcome.isError === true || (said ?? toolFault !== undefined);
  const checked = call.kind === 'shell' || call.kind === 'other' ? readChecks(call, text) : undefined;
  if (failed) return { ...readFailure(call, text, code, toolFault), text };
  if (checked === 'red') {
    const outage = countTests(text)?.failed ? undefined : findOutage(text, isOwnService(call));
    if (outage !== undefined) return { kind: 'outage', reason: outage, text };
    return { kind: 'red', reason: 'checks failed', text };
  }
  if (said === undefined && call.kind === 'shell') {
    const plain = readPlainOutput(call, text);
    if (plain !== undefined) return { ...plain, text };
  }
  if (checked === 'green') return { kind: 'green', reason: 'checks passed', text };
  if (isShown(call)) return { kind: 'unclear', reason: 'it only reads', text };
  const isDone = said === false || outcome.isError === false || isQuietSuccess(call, outcome.text, text);
  return isDone
    ? { kind: 'ok', reason: code === 0 ? 'exit code 0' : 'the tool says so', text }
    : { kind: 'unclear', reason: '', text };
}

/** Shells that print a status only when it is not 0: Claude Code, goose, Gemini CLI. */
const SILENT_SHELL = /^Bash$|(?:^|__)developer__shell$/;
const SILENT_FORM = /\nProcess Group PGID: \d{1,9}\s{0,4}$/;

/** A tool that reports no status has done its work. */
function isQuietSuccess(call: CallView, whole: string, text: string): boolean {
  if (DONE.test(text.slice(0, 600))) return true;
  if (call.kind !== 'shell' || isMasked(call)) return false;
  const isOwnForm = SILENT_SHELL.test(call.name) || SILENT_FORM.test(whole.slice(-80));
  return call.programs.length > 0 && (isOwnForm || hasSaidDone(text));
}

interface Unwrapped {
  readonly text: string;
  /** The wrapping says that the call failed. */
  readonly isError: boolean;
}

/** What clients put around the message of a failed call. */
const WRAPPERS: readonly RegExp[] = [
  /^\s*<tool_use_error>([\s\S]{0,100000}?)(?:<\/tool_use_error>|$)/,
  /^\s*The tool execution failed(?: with the following error)?:?\s{0,4}<error>\s{0,4}([\s\S]{0,100000}?)(?:<\/error>|$)/,
  /^\s*MCP tool '[^'\n]{1,100}' reported (?:an? )?(?:tool )?error[^:\n]{0,80}[:.] ?(?:Error: )?([\s\S]{0,100000})$/,
  /^\s*ERROR:\s{0,4}\n([\s\S]{0,100000})$/,
  /^\s*Error:\s{0,4}\n([\s\S]{0,100000})$/,
];
/** Codex, before the JSON of an MCP tool. */
const TIMED_JSON = /^Wall time: [\d.]{1,12} seconds\nOutput:\n(?=[[{])/;
/** Cline, before what a command printed. */
const GEMINI_HEAD = /^(?:Command: [^\n]{0,4000}\nDirectory: [^\n]{0,400}\n)?Output: /;
const GEMINI_NONE = /^(?:Error|Signal|Background PIDs): \(none\)$/gm;
const EXECUTED = /^Command executed\.\s{0,4}\nOutput:\n/;

function unwrap(text: string): Unwrapped {
  for (const wrapper of WRAPPERS) {
    const inner = wrapper.exec(text)?.[1];
    if (inner !== undefined) return { text: inner.trim(), isError: true };
  }
  const plain = text.replace(TIMED_JSON, '').replace(EXECUTED, '').replace(GEMINI_HEAD, '');
  return { text: plain.replace(GEMINI_NONE, ''), isError: false };
}

/** The content of a file may begin with any words; an error message instead of it is short. */
function faultOf(call: CallView, { isError }: Unwrapped, text: string): string | undefined {
  if (isError && call.kind !== 'shell') return findToolFault(text) ?? VAGUE;
  const fault = findToolFault(text);
  if (fault === undefined && call.kind !== 'shell' && call.kind !== 'read' && isErrorReport(call, text))
    return VAGUE;
  return call.kind === 'read' && text.length > 1500 ? undefined : fault;
}

const REPORT =
  /^(?:Traceback \(most recent|(?:[\w.]{1,80}\.)?\w{1,60}(?:Error|Exception)\b: |\W{0,4}(?:error|failed|failure|fatal|exception)\b|(?:unable to|could not|couldn't|cannot|can't|invalid|request failed|missing required|not found\b|no such|access denied|unauthorized|forbidden|bad request|MCP error|upstream |Ref \S{1,20} not found|unknown (?:tool|argument|parameter|command)))/i;
const REPORT_CAP = 4000;
const SHORT = 500;
const GAVE_UP =
  /\b(?:stopped after|gave up|not able to|without finishing|could not|couldn't|was unable to|failed to|did not (?:finish|complete|succeed)|terminated early|ran out of)\b/i;
/** Tools that run code which is part of the call. */
const RUNS = /(?:^|_)(?:python|ipython|code|repl|notebook|javascript|node|sql|query|eval|script)(?:_|$)/i;
const DELEGATE = /^(?:task|agent|sub_?agent|delegate|spawn_agent|new_task|wait_agent)$/i;

/** A function without an error flag answers with a sentence that reports an error. */
function isErrorReport(call: CallView, text: string): boolean {
  if (text.length > REPORT_CAP) return false;
  const [first = ''] = headLines(text, 1);
  const isSearch = call.kind === 'search';
  if (RUNS.test(call.name) && hasCrashed(text, false)) return true;
  if (!isSearch && REPORT.test(first.trim()) && !/\b0 (?:errors|failed)\b/.test(first)) return true;
  if (DELEGATE.test(call.name)) return GAVE_UP.test(text.slice(0, 400));
  // What a tool quotes may be what it was asked.
  const own = first.replace(/"[^"]{0,300}"|“[^”]{0,300}”/g, '');
  return !isSearch && text.length < SHORT && findOutageIn(own) !== undefined;
}

type Reading = Pick<CallOutcome, 'kind' | 'reason'>;

function readFailure(
  call: CallView,
  text: string,
  code: number | undefined,
  toolFault: string | undefined,
): Reading {
  const fault = toolFault ?? findCommandFault(text);
  const tests = countTests(text);
  const isRed = call.programs.some(isCheck) && !call.programs.some(isInline);
  const ended = code === undefined ? undefined : ENDED.get(code);
  if (ended !== undefined) return { kind: 'outage', reason: ended };
  const outage = tests?.failed || isEditSlip(call, fault) ? undefined : findOutage(text, isOwnService(call));
  if (outage !== undefined) return { kind: 'outage', reason: outage };
  if (
    call.programs.at(-1)?.name === 'curl' &&
    code !== undefined &&
    CURL_OUTAGES.has(code) &&
    !isOwnService(call)
  )
    return { kind: 'outage', reason: `curl ${code}` };
  if (code === 1 && isAsking(call) && fault === undefined && !tests?.failed && !hasCrashed(text, false))
    return { kind: 'unclear', reason: 'the answer is no' };
  if (fault === 'no-such-file' && isProbe(call)) return { kind: 'unclear', reason: 'not all files exist' };
  const said = fault ?? (code === undefined ? VAGUE : `exit code ${code}`);
  const isWrongCall =
    fault === 'command-not-found' || fault === 'missing-script' || fault === 'unknown-option';
  return {
    kind: isRed && !isWrongCall ? 'red' : 'fault',
    reason: tests?.failed ? `${tests.failed} tests failed` : said,
  };
}

/** The message of an edit tool quotes the file, which may be about anything. */
const isEditSlip = (call: CallView, fault: string | undefined): boolean =>
  call.kind === 'edit' && fault !== undefined && fault !== VAGUE;

/** The command talks to a service on this machine. */
const isOwnService = ({ programs }: CallView): boolean =>
  programs.some(({ args }) => args.some(isLocalAddress));

/** Reads the summary of a test run or a compiler, also when a pipe hid the exit code. */
function readChecks(call: CallView, text: string): 'red' | 'green' | undefined {
  const isRun =
    call.kind === 'shell'
      ? call.programs.some(isCheck)
      : /(?:^|[_-])(?:tests?|lint|build|typecheck)(?:[_-]|$)/i.test(call.name);
  if (!isRun) return undefined;
  const tests = countTests(text);
  const isBuild = !call.programs.some(isProgram);
  if (tests?.failed || (isBuild && countErrors(text) > 0)) return 'red';
  return tests === undefined ? undefined : 'green';
}

/** The exit code is that of the last pipeline; with a test program (`grep`) in it, 1 means "no". */
function isAsking({ programs }: CallView): boolean {
  const from = programs.findLastIndex(({ joint }) => joint !== '|');
  return programs.slice(Math.max(0, from)).some(isQuestion);
}

/** The exit code 0 is that of a `true`, an `echo` or a `tail` after the program. */
function isMasked({ programs }: CallView): boolean {
  const last = programs.at(-1);
  const isHiding = last !== undefined && last.joint !== '&&' && last.joint !== '' && isReading(last);
  return isHiding && !programs.every(isReading);
}

/** Checks which of several files exist. */
const isProbe = ({ programs }: CallView): boolean =>
  programs.length > 0 &&
  programs.every(({ name, args }) => {
    const names = args.filter((arg) => !arg.startsWith('-'));
    return (name === 'ls' || name === 'stat') && (names.length > 1 || names.some((one) => one.includes('*')));
  });

/** The output is existing content. */
const isShown = ({ programs }: CallView): boolean => programs.length > 0 && programs.every(isReading);

/** Lines of an output that is a message. */
const FEW = 4;

/** Without an exit code the output decides, unless it only shows existing content. */
function readPlainOutput(call: CallView, text: string): Reading | undefined {
  const [first = ''] = headLines(text, 1);
  const isOwnWord = call.programs.some(
    ({ name }) =>
      first.startsWith(`${name}: `) ||
      (name === 'jq' && first.startsWith('parse error: ')) ||
      (name === 'git' && first.startsWith('fatal: ')),
  );
  if (isShown(call) && !isOwnWord) return undefined;
  const fault = findCommandFault(text);
  const hasFailed =
    fault !== undefined || hasCrashed(isShown(call) ? first : text, !call.programs.some(isProgram));
  const isEnded = /^(?:killed|terminated)$/im.test(text.slice(-200).trim().split('\n').at(-1)?.trim() ?? '');
  const lines = headLines(text, FEW + 1);
  const last = tailLines(text, 1)[0] ?? '';
  const mayReport = lines.length <= FEW || !isShown(call);
  const isOutage = mayReport && findOutageIn(last, isOwnService(call)) !== undefined;
  if (!hasFailed && !isEnded && !isOutage) return undefined;
  const outage = findOutage(text, isOwnService(call));
  if (outage !== undefined) return { kind: 'outage', reason: outage };
  const isRed = fault === undefined && call.programs.some(isCheck) && !call.programs.some(isInline);
  return { kind: isRed ? 'red' : 'fault', reason: fault ?? 'it crashed' };
}

/** Whether nothing speaks against a call: where a text decides nothing, as that of a file that was read, it counts. */
export const isSuccess = (kind: OutcomeKind): boolean =>
  kind === 'ok' || kind === 'green' || kind === 'unclear';

/** Whether a tool call succeeded, according to its result. */
export const hasToolSucceeded = (
  call: { readonly name: string; readonly arguments: string },
  outcome: ToolOutcome,
): boolean => isSuccess(readOutcome(readCall(call), outcome).kind);

/** Whether a tool call failed, according to its result. */
export const hasToolFailed = (
  call: { readonly name: string; readonly arguments: string },
  outcome: ToolOutcome,
): boolean => {
  const { kind } = readOutcome(readCall(call), outcome);
  return kind === 'fault' || kind === 'red';
};

/** Lines of a crashed program, whatever the program. */
const CRASHES =
  /^(?:Traceback \(most recent call last\):|fatal: |panic: |thread '.{1,80}' panicked at |npm (?:ERR!|error) |Uncaught \w{0,40}Error|error: Uncaught|Unhandled (?:exception|rejection)|Exception in thread "|PHP (?:Fatal|Parse) error: |(?:\S{1,200} )?(?:Segmentation fault|Bus error|Aborted|Illegal instruction)(?: \(core dumped\))?|\S{1,200}\.rb:\d{1,7}:in |ERROR: {2}|ERROR \d{4} \(|node:internal\/|Node\.js v\d|│ Error: |╷$|ERROR: failed to |\S{1,100}\s{1,40}: ok=\d{1,6} .{0,80}failed=[1-9]|ERROR: (?:No matching|Could not)|ERROR: LoadError|Execution (?:halted|of \S{1,200} aborted)|lua\S{0,8}: \S{1,200}:\d{1,7}: |Error in .{1,200} :|error during build:|Failed to compile\.)/;

/** Tools report their own errors this way; other programs may print it about their data. */
const COMPLAINTS: readonly RegExp[] = [
  /^\W{0,6}(?:error|fatal|failure|failed|ERR!|panic|exception)\b(?!s? (?:page|handling|handler|log))[:!\][( -]/i,
  /^[\w.@/+-]{1,120}(?:\[\d{1,7}\])?: (?:line \d{1,7}: )?(?:fatal |parse |syntax |internal |runtime )?(?:error|fatal|panic|exception|no module named)\b/i,
  /^[\w./@+ -]{1,200}[:(]\d{1,7}(?:[:,]\d{1,7})?\)?: ?(?:fatal )?(?:error|fatal)\b/i,
  /^(?:\S{1,40}: )?(?:unable to|could not|couldn't|cannot|can't|invalid|unknown|unrecogni[sz]ed|unsupported|missing|no such|not found|nothing to do|refusing to|permission denied|wrong number)\b/i,
  /^(?:[\w./-]{1,60}: ){1,3}.{0,200}(?:not found|no such file|cannot |can't |unterminated|invalid |denied|not permitted|unexpected|illegal |unknown |failed|no rule to make)/i,
  /\b(?:command not found|syntax error|is not recognized|unexpected token|compilation (?:failed|error|aborted)|build (?:failed|did NOT complete)|(?:check|validation|tests?) failed|compiled with \d{1,6} errors?|would be reformatted|completed with [1-9]\d{0,5} errors?|merge conflict|\[rejected\]|patch does not apply|aborting\b|An error occurred \()/i,
  /^(?:✖|✘|×|✗|x|\[x\]|❌)\s{1,3}\S/,
  /^\(error\) /,
  /^(?:parse|syntax|type|runtime) error\b/i,
  /^(?:nothing added to commit|nothing to commit)\b/,
  /^(?:[\w.]{1,80}\.)?\w{1,60}(?:Exception|Error): \S/,
  /: (?:ERROR|FATAL|PANIC): /,
  /\bis invalid(?:$|: )|\bdoes not match\b|\bERROR SUMMARY: [1-9]|\bexited with (?:code|status) [1-9]/,
  /^\[(?:ERROR|error|FAILED|FATAL)\]/,
  /^ERROR in /,
];
const LOOK_AT = 12;

/** Whether the output shows a crash. `isTool`: the output is a tool's own, not an arbitrary program's. */
function hasCrashed(text: string, isTool: boolean): boolean {
  const lines = [...headLines(text, 3), ...tailLines(text, LOOK_AT)];
  return lines.some((line) => CRASHES.test(line) || (isTool && isComplaint(line)));
}

/** Counts of nothing are no complaint. */
const NONE =
  /\b(?:0|no) (?:\w{1,12} )?(?:errors?|failures?|failed|problems?|issues?|warnings?)\b|\bfailed[=: ]{1,3}0\b|\bwithout errors?\b/i;

const isComplaint = (line: string): boolean => {
  const text = line.trim();
  return text.length < 400 && !NONE.test(text) && COMPLAINTS.some((pattern) => pattern.test(text));
};

/** Redis prints its errors with the exit code 0. */
const isRedisError = (text: string): boolean => /^\(error\) [A-Z]{3,20} /.test(text.trimStart());

/** Words with which tools say that the work is done. */
const HAS_ENDED =
  /^✓ built in| -> \S{1,200}$|\b(?:build successful|compiled successfully|successfully (?:\w{3,20}ed|rolled out|built)|apply complete|all (?:checks|tests) passed|no (?:issues|errors|problems) found|success: |deployed\b|has been upgraded|(?:configured|created|scaled|unchanged|restarted|deleted|updated|installed)$|done in \d|built target|test is successful|syntax is ok|\.\.\. OK$|Applying .{1,200} OK$|up to date|upload(?:ed)?: |changed, \d{1,7} insertions|congratulations|Finished `?\w{1,20}`? (?:profile|\[)|already satisfied|successfully installed|\bpassed\.?$|Running upgrade \S|CREATE (?:TABLE|INDEX)|ALTER TABLE|INSERT 0 \d)/i;

/** How the output of a tool without an exit code reads: it complains, it says that it is done, or neither. */
function hasSaidDone(text: string): boolean {
  const lines = [...headLines(text, 3), ...tailLines(text, LOOK_AT)];
  return lines.some((line) => HAS_ENDED.test(line.trim())) && !hasCrashed(text, true);
}
