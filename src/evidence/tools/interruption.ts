import { asObject, asString, isObject, parseJson } from '../../core/json.ts';
import { headLines, tailLines } from '../../text/lines.ts';

/** A person or a limit ended a call. */
export interface Interruption {
  readonly kind: 'rejected' | 'outage';
  readonly reason: string;
  /** The reason that the person gave. */
  readonly words?: string;
}

/** A person did not allow the call. */
const REJECTED =
  /^(?:The user doesn't want to (?:proceed|take this action)|The user (?:rejected|denied|declined)\b|(?:exec command|patch|command) rejected by user|Permission to use \S{1,80} has been (?:auto-)?denied|This (?:Bash )?command (?:requires approval|contains multiple operations)|User (?:rejected|denied|declined)|Permission denied by user|.{0,80} requested permissions to .{1,300} but you haven't granted it)/i;
/** Marks before the reason of a rejection. */
const WITH_WORDS = [
  'the user said:',
  'The user said:',
  'with the following feedback:',
  'provided the following feedback:',
  'User feedback:',
];

const INTERRUPTED =
  /^(?:\[Request interrupted by user|\[Tool execution was interrupted\]|(?:command )?aborted by user|aborted$|Tool execution aborted|User aborted the command|Command aborted|Operation aborted|\[?Interrupted\b|Tool use was cancelled|Task was interrupted|(?:The )?(?:tool call|tool|command|task|operation|request|execution)(?: \S{1,60})? was cancell?ed by (?:the )?user|The user (?:cancell?ed|aborted|interrupted|stopped)\b|Command cancell?ed\b|\^C$|\^CKeyboardInterrupt|KeyboardInterrupt$|\[The command completed with exit code 130|Agent terminated early due to an API error|You've hit your (?:session|usage) limit|API Error: (?:\d{3}|Request timed out|Connection error))/i;
const TIMED_OUT =
  /^[[(]?(?:Error: )?(?:command (?:execution )?timed out\b|The command timed out after|(?:shell|bash) tool terminated command after exceeding timeout|The command was terminated after exceeding|Command was automatically cancelled because it exceeded|Command failed: Command timed out|The command ['"`].{1,400}['"`] was cancelled because it took more than|Tool (?:execution |call )?timed out|Timeout: command exceeded|execution timed out|timed out after \d|The (?:operation|request) was aborted due to timeout|MCP error -32001)/i;

/** Whether a person or a limit ended the call; checked before its output is read. */
export function readInterruption(text: string): Interruption | undefined {
  const [first = ''] = headLines(text, 1);
  if (first.startsWith('{')) return readMarks(text);
  if (REJECTED.test(first.trim())) return rejected(wordsIn(text));
  const ends = [first, ...tailLines(text, 3)].map((line) => line.trim());
  if (ends.some((line) => INTERRUPTED.test(line))) return { kind: 'outage', reason: 'interrupted' };
  return ends.some((line) => TIMED_OUT.test(line)) ? { kind: 'outage', reason: 'timed out' } : undefined;
}

const rejected = (words: string): Interruption => ({
  kind: 'rejected',
  reason: 'a person rejected it',
  ...(words === '' ? {} : { words }),
});

const MARKS_CAP = 100_000;
const TIMEOUT_KEYS = ['timedOut', 'timed_out', 'isTimeout', 'timeoutExceeded'];
const ABORT_KEYS = ['aborted', 'interrupted', 'cancelled', 'canceled'];

/** The same in JSON: `{"status":"denied","feedback":…}` (Roo Code), `{"timedOut":true,…}` (OpenClaw and others). */
function readMarks(text: string): Interruption | undefined {
  const value = text.length > MARKS_CAP ? undefined : parseJson(text);
  if (!isObject(value)) return undefined;
  const { status, feedback, message } = value;
  const isInterrupted = INTERRUPTED.test(asString(message) ?? '');
  if (status === 'denied' && !isInterrupted) return rejected(asString(feedback)?.trim() ?? '');
  const marks = { ...asObject(value.metadata), ...value };
  if (TIMEOUT_KEYS.some((key) => marks[key] === true)) return { kind: 'outage', reason: 'timed out' };
  if (isInterrupted || ABORT_KEYS.some((key) => marks[key] === true))
    return { kind: 'outage', reason: 'interrupted' };
  return undefined;
}

function wordsIn(text: string): string {
  const mark = WITH_WORDS.find((words) => text.includes(words));
  if (mark === undefined) return '';
  return text
    .slice(text.indexOf(mark) + mark.length)
    .replace(/<\/?feedback>/g, '')
    .trim();
}
