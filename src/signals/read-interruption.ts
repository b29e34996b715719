import { headLines, tailLines } from './lines.ts';

export interface Interruption {
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
export function readInterruption(text: string): Interruption | undefined {
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
