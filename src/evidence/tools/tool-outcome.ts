import type { ToolOutcome } from '../../core/evidence.ts';
import { headLines, tailLines } from '../../text/lines.ts';
import { countErrors, countTests } from './count-failures.ts';
import { findCommandFault, findOutage, findToolFault, hasCrashed } from './error-patterns.ts';
import { readExitCode } from './exit-status.ts';
import { readEnvelope } from './result-envelope.ts';
import { isCheck, isInline, isProgram, isQuestion, isReading } from './shell-command.ts';
import { type CallView, readCall } from './tool-call.ts';

/**
 * The outcome of a call.
 * `ok`: the tool reports success. `green`: checks passed. `fault`: the call was wrong. `red`: the call was right, and
 * the checked code is broken. `outage`: it failed for external reasons. `rejected`: a person did not allow it.
 * `unclear`: the text does not decide it.
 */
export type OutcomeKind = 'ok' | 'green' | 'fault' | 'red' | 'outage' | 'rejected' | 'unclear';

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
/** The reason when a tool reports only that it failed. */
const VAGUE = 'the tool says so';
const CURL_OUTAGES = new Set([6, 28, 35, 52, 56]);
const DONE =
  /^(?:The file .{1,400} has been (?:updated|created)|File (?:created|written|updated) successfully|Successfully (?:replaced|wrote|created|edited|applied)|Success\. Updated the following files|Edit applied successfully|Wrote file successfully|Created new file)/;

/** Reads a result in its client's format. Words like "error" in the content do not count, only what the tool reports. */
export function readOutcome(call: CallView, outcome: ToolOutcome): CallOutcome {
  const interruption = readInterruption(outcome.text);
  if (interruption !== undefined) return { ...interruption, text: outcome.text };
  const envelope = readEnvelope(outcome.text, call.kind);
  const text = envelope?.text ?? unwrap(outcome.text);
  const code = envelope?.exitCode ?? (call.kind === 'read' ? undefined : readExitCode(text, isShown(call)));
  const toolFault = call.kind === 'shell' && code !== undefined ? undefined : faultOf(call, outcome, text);
  const isHidden = code === 0 && isMasked(call);
  const said = isHidden ? undefined : (envelope?.failed ?? (code === undefined ? undefined : code !== 0));
  const failed = outcome.isError === true || (said ?? toolFault !== undefined);
  const checked = call.kind === 'shell' || call.kind === 'other' ? readChecks(call, text) : undefined;
  if (failed) return { ...readFailure(call, text, code, toolFault), text };
  if (checked === 'red') return { kind: 'red', reason: 'checks failed', text };
  if (said === undefined && call.kind === 'shell') {
    const plain = readPlainOutput(call, text);
    if (plain !== undefined) return { ...plain, text };
  }
  if (checked === 'green') return { kind: 'green', reason: 'checks passed', text };
  const isDone = said === false || outcome.isError === false || DONE.test(text.slice(0, 600));
  return isDone
    ? { kind: 'ok', reason: code === 0 ? 'exit code 0' : 'the tool says so', text }
    : { kind: 'unclear', reason: '', text };
}

const unwrap = (text: string): string => {
  const from = text.startsWith('<tool_use_error>') ? '<tool_use_error>'.length : 0;
  return text.slice(from).replace('</tool_use_error>', '');
};

/** The content of a file may begin with any words; an error message instead of it is short. */
function faultOf(call: CallView, outcome: ToolOutcome, text: string): string | undefined {
  if (outcome.text.startsWith('<tool_use_error>')) return findToolFault(text) ?? VAGUE;
  const fault = findToolFault(text);
  if (
    fault === undefined &&
    call.kind === 'other' &&
    /^(?:Error|ERROR): {1,2}\S/.test(text) &&
    text.length < 4000
  )
    return VAGUE;
  return call.kind === 'read' && text.length > 1500 ? undefined : fault;
}

type Reading = Pick<CallOutcome, 'kind' | 'reason'>;

function readFailure(
  call: CallView,
  text: string,
  code: number | undefined,
  toolFault: string | undefined,
): Reading {
  const fault = toolFault ?? findCommandFault(text);
  const isNamed = fault !== undefined && fault !== VAGUE;
  const tests = countTests(text);
  const isRed = call.programs.some(isCheck) && !call.programs.some(isInline);
  if (code === 1 && isAsking(call) && fault === undefined && !tests?.failed && !hasCrashed(text, true))
    return { kind: 'unclear', reason: 'the answer is no' };
  if (fault === 'no-such-file' && isProbe(call)) return { kind: 'unclear', reason: 'not all files exist' };
  const ended = code === undefined ? undefined : ENDED.get(code);
  if (ended !== undefined) return { kind: 'outage', reason: ended };
  const outage = !isNamed && !tests?.failed ? findOutage(text) : undefined;
  if (outage !== undefined) return { kind: 'outage', reason: outage };
  if (call.programs.at(-1)?.name === 'curl' && code !== undefined && CURL_OUTAGES.has(code))
    return { kind: 'outage', reason: `curl ${code}` };
  const said = fault ?? (code === undefined ? VAGUE : `exit code ${code}`);
  const isWrongCall =
    fault === 'command-not-found' || fault === 'missing-script' || fault === 'unknown-option';
  return {
    kind: isRed && !isWrongCall ? 'red' : 'fault',
    reason: tests?.failed ? `${tests.failed} tests failed` : said,
  };
}

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

/** Without an exit code the output decides, unless it only shows existing content. */
function readPlainOutput(call: CallView, text: string): Reading | undefined {
  const [first = ''] = headLines(text, 1);
  const isOwnWord = call.programs.some(
    ({ name }) => first.startsWith(`${name}: `) || (name === 'git' && first.startsWith('fatal: ')),
  );
  if (isShown(call) && !isOwnWord) return undefined;
  const fault = findCommandFault(text);
  if (fault === undefined && !hasCrashed(isShown(call) ? first : text, !call.programs.some(isProgram)))
    return undefined;
  const outage = findOutage(text);
  if (outage !== undefined && fault === undefined) return { kind: 'outage', reason: outage };
  const isRed = fault === undefined && call.programs.some(isCheck) && !call.programs.some(isInline);
  return { kind: isRed ? 'red' : 'fault', reason: fault ?? 'it crashed' };
}

interface Interruption {
  readonly kind: 'rejected' | 'outage';
  readonly reason: string;
  /** The reason that the person gave. */
  readonly words?: string;
}

/** A person did not allow the call. */
const REJECTED =
  /^(?:The user doesn't want to (?:proceed|take this action)|The user rejected permission|(?:exec command|patch|command) rejected by user|Permission to use \S{1,80} has been (?:auto-)?denied|This (?:Bash )?command (?:requires approval|contains multiple operations)|User rejected|User denied|Permission denied by user|.{0,80} requested permissions to .{1,300} but you haven't granted it)/;
/** Marks before the reason of a rejection. */
const WITH_WORDS = ['the user said:', 'with the following feedback:', 'User feedback:'];

const INTERRUPTED =
  /^(?:\[Request interrupted by user|\[Tool execution was interrupted\]|aborted by user|aborted$|User aborted the command|Command aborted|Operation aborted|\[?Interrupted\b|Tool use was cancelled|Agent terminated early due to an API error|You've hit your (?:session|usage) limit|API Error: (?:\d{3}|Request timed out|Connection error))/i;
const TIMED_OUT =
  /^(?:Error: )?(?:command timed out (?:after|waiting)|(?:shell|bash) tool terminated command after exceeding timeout|Command failed: Command timed out|Tool (?:execution |call )?timed out|Timeout: command exceeded|The (?:operation|request) was aborted due to timeout|MCP error -32001: Request timed out)/i;

/** Whether a person or a limit ended the call; checked before its output is read. */
function readInterruption(text: string): Interruption | undefined {
  const [first = ''] = headLines(text, 1);
  if (REJECTED.test(first)) {
    const words = wordsIn(text);
    return { kind: 'rejected', reason: 'a person rejected it', ...(words === '' ? {} : { words }) };
  }
  const ends = [first, ...tailLines(text, 3)].map((line) => line.trim());
  if (ends.some((line) => INTERRUPTED.test(line))) return { kind: 'outage', reason: 'interrupted' };
  return ends.some((line) => TIMED_OUT.test(line)) ? { kind: 'outage', reason: 'timed out' } : undefined;
}

function wordsIn(text: string): string {
  const mark = WITH_WORDS.find((words) => text.includes(words));
  return mark === undefined ? '' : text.slice(text.indexOf(mark) + mark.length).trim();
}

/** Whether a tool call failed, according to its result. */
export const hasToolFailed = (
  call: { readonly name: string; readonly arguments: string },
  outcome: ToolOutcome,
): boolean => {
  const { kind } = readOutcome(readCall(call), outcome);
  return kind === 'fault' || kind === 'red';
};
