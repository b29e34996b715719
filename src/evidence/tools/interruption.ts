import { asObject, asString, isObject, parseJson } from '../../core/json.ts';
import { headLines, tailLines } from '../../text/lines.ts';

/** A person, a rule of theirs or a limit ended a call, or the person changed what it wrote. */
export interface Interruption {
  readonly kind: 'rejected' | 'amended' | 'outage';
  readonly reason: string;
  /** The reason that the person gave. */
  readonly words?: string;
}

/**
 * Sentences of clients, word for word in lower case: how a line begins and, where that is not enough, what it also holds. Each was seen
 * in the client's source or in transcripts: `test/evidence/tools/client-wrappers.jsonl` has them with their files.
 */
type Sentences = readonly (readonly [start: string, within?: string])[];

/** A person, or a rule of theirs, did not allow the call. */
const REJECTED: Sentences = [
  ["the user doesn't want to "],
  ['the user rejected'],
  ['the user denied'],
  ['the user declined'],
  ['the user has declined to '],
  ['the user dismissed this '],
  ['the user has specified a rule which prevents '],
  ['user rejected'],
  ['user denied'],
  ['user declined'],
  ['blocked by user'],
  ['exec command rejected by user'],
  ['patch rejected by user'],
  ['command rejected by user'],
  ['permission denied by user'],
  ['permission to use ', 'denied'],
  ['permission for this ', ' denied'],
  ['this tool call was rejected by the user'],
  ['the agent proposed a plan that was rejected by the user'],
  ['this action was rejected due to unacceptable risk'],
  ['this command requires approval'],
  ['this bash command requires approval'],
  ['this command contains multiple operations'],
  ['this bash command contains multiple operations'],
  ['command blocked by pretooluse hook'],
  ['tool call blocked by pretooluse hook'],
  ['pretooluse:', ' hook '],
  ['command execution blocked by cline_command_permissions'],
  ['tool execution was blocked'],
  ['tool execution denied by policy'],
  ['writing ', 'rejected by user approval settings'],
  ['exec denied (', ', user-denied)'],
  ['`', '` rejected: '],
  ['tool "', '" was denied by user'],
  ['path "', '" is protected'],
  ['access to ', ' is blocked by the .clineignore file settings'],
  ['', ' operation blocked by hook'],
  ['', "but you haven't granted it"],
];
/** Marks before the reason of a rejection. */
const WITH_WORDS = [
  'the user said:',
  'The user said:',
  'with the following feedback:',
  'provided the following feedback:',
  'User feedback:',
];
/** What Claude Code writes behind the reason, and instead of one. */
const AFTER_WORDS = "\n\nNote: The user's next message may contain a correction";
const NO_WORDS = 'The user wants to clarify these questions.';
/** The person's words in the result of a call with which an agent declares itself done, or asks. */
const SPOKEN_TO: ReadonlySet<string> = new Set(['attempt_completion']);
const SPOKEN_TAGS = ['feedback', 'user_message'] as const;
const AMENDED = 'The user made the following updates to your content:';

/** The reason of a call that was stopped. */
export const INTERRUPTED = 'interrupted';
const STOPS: Sentences = [
  ['[request interrupted by user'],
  ['[tool execution was interrupted]'],
  ['[tool result missing due to internal error]'],
  ['[operation cancelled]'],
  ['[interrupted'],
  ['interrupted'],
  ['aborted by user'],
  ['command aborted'],
  ['operation aborted'],
  ['tool execution aborted'],
  ['tool execution was cancelled'],
  ['tool execution cancelled'],
  ['tool use was cancelled'],
  ['task was interrupted'],
  ['command cancelled'],
  ['command canceled'],
  ['user aborted the command'],
  ['user cancelled'],
  ['the user cancelled'],
  ['the user canceled'],
  ['the user aborted'],
  ['the user interrupted'],
  ['the user stopped'],
  ['^ckeyboardinterrupt'],
  ['[the command completed with exit code 130'],
  ['agent terminated early due to an api error'],
  ["you've hit your session limit"],
  ["you've hit your usage limit"],
  ['api error: request timed out'],
  ['api error: connection error'],
  ['', ' was cancelled by user'],
  ['', ' was cancelled by the user'],
  ['', ' was canceled by user'],
  ['', ' was canceled by the user'],
  ['', ' is temporarily unavailable, so auto mode cannot determine'],
];
/** Lines that are nothing else. */
const BARE_INTERRUPTIONS: ReadonlySet<string> = new Set([
  'aborted',
  '^c',
  'keyboardinterrupt',
  'command aborted by user',
]);
const API_ERROR = /^api error: \d{3}/;
const TIMED_OUT =
  /^[[(]?(?:Error: )?(?:command (?:execution )?timed out\b|The command timed out after|(?:shell|bash) tool terminated command after exceeding timeout|The command was terminated after exceeding|Command was automatically cancelled because it exceeded|Command failed: Command timed out|The command ['"`].{1,400}['"`] was cancelled because it took more than|Tool (?:execution |call )?timed out|Timeout: command exceeded|execution timed out|timed out after \d|The (?:operation|request) was aborted due to timeout|MCP error -32001|Exec denied \(.{1,200}, approval-timeout)/i;
/** A sentence of a client is one line, and no longer than that. */
const LONGEST_LINE = 2000;

const isOneOf = (line: string, sentences: Sentences): boolean =>
  sentences.some(([start, within = '']) => line.startsWith(start) && line.includes(within));

const isInterruption = (text: string): boolean => {
  const line = text.trim().slice(0, LONGEST_LINE).toLowerCase();
  return BARE_INTERRUPTIONS.has(line) || API_ERROR.test(line) || isOneOf(line, STOPS);
};

/** Whether a person or a limit ended the call; checked before its output is read. */
export function readInterruption(name: string, text: string): Interruption | undefined {
  const [first = ''] = headLines(text, 1);
  if (first.startsWith('{')) return readMarks(text);
  if (SPOKEN_TO.has(name)) {
    const words = spokenIn(text);
    return words === '' ? undefined : rejected(words);
  }
  if (first.startsWith(AMENDED)) return { kind: 'amended', reason: 'a person changed it' };
  if (isOneOf(first.trim().slice(0, LONGEST_LINE).toLowerCase(), REJECTED)) return rejected(wordsIn(text));
  const ends = [first, ...tailLines(text, 3)].map((line) => line.trim());
  if (ends.some(isInterruption)) return { kind: 'outage', reason: INTERRUPTED };
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
  const { status, feedback, message, type, user_edits: edits } = value;
  const isAborted = isInterruption(asString(message) ?? '');
  if (status === 'denied' && !isAborted) return rejected(asString(feedback)?.trim() ?? '');
  if (status === 'error' && type === 'access_denied') return rejected('');
  if (asString(edits) !== undefined) return { kind: 'amended', reason: 'a person changed it' };
  const marks = { ...asObject(value.metadata), ...value };
  if (TIMEOUT_KEYS.some((key) => marks[key] === true)) return { kind: 'outage', reason: 'timed out' };
  if (isAborted || ABORT_KEYS.some((key) => marks[key] === true))
    return { kind: 'outage', reason: INTERRUPTED };
  return undefined;
}

function wordsIn(text: string): string {
  const mark = WITH_WORDS.find((words) => text.includes(words));
  if (mark === undefined) return '';
  const behind = text.slice(text.indexOf(mark) + mark.length);
  const words = (behind.split(AFTER_WORDS)[0] ?? '').replace(/<\/?feedback>/g, '').trim();
  return words.startsWith(NO_WORDS) ? '' : words;
}

/** What the person said to a result that they were shown. */
function spokenIn(text: string): string {
  for (const tag of SPOKEN_TAGS) {
    const from = text.indexOf(`<${tag}>`);
    const to = text.lastIndexOf(`</${tag}>`);
    if (from >= 0 && to > from) return text.slice(from + tag.length + 2, to).trim();
  }
  return '';
}
