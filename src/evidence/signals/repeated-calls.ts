import { memoByText } from '../../base/text-memo.ts';
import type { Signal, TurnEvidence } from '../../core/evidence.ts';
import { bothEnds } from '../../text/lines.ts';
import type { Program } from '../../text/shell-programs.ts';
import { isChange } from '../tools/shell-command.ts';
import { type CallView, readCall } from '../tools/tool-call.ts';
import { isFailedCall, type ToolCallReading, type TurnReading } from '../turn-reading.ts';
import { essence } from './tool-signals.ts';

/** The same call for the third time with the same result is a loop; files and listings are looked at more often. */
const PATIENCE = 3;
const PATIENCE_FOR_A_LOOK = 4;
/** Calls that are meant to be repeated: they wait for something, or show what goes on. */
const WAITING_TOOL =
  /output|status|wait|poll|sleep|logs?$|progress|monitor|heartbeat|stdin|screenshot|snapshot|todo|think|plan|clock|time$/i;
const WAITING_PROGRAM: ReadonlySet<string> = new Set(
  'sleep watch tail ps top uptime date jobs kubectl oc docker podman helm gh glab systemctl journalctl squeue qstat curl wget nc ping pgrep lsof ss netstat nvidia-smi tmux until while aws gcloud az'.split(
    ' ',
  ),
);
/** Programs that only look around. */
const LOOKING: ReadonlySet<string> = new Set(
  'ls pwd cat head git find grep rg which env wc stat tree file'.split(' '),
);
const MARK_CAP = 2000;
/** Times, durations and addresses differ between two runs with the same result. */
const VARYING =
  /\d{1,4}[-/]\d\d?[-/]\d{1,4}[T ]?|\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,9})?Z?|\d{1,9}(?:\.\d{1,9})? ?(?:ms|µs|s|sec|seconds)\b|0x[0-9a-f]{4,16}|\bpid[ =:]{1,3}\d{1,9}/gi;

/** A fingerprint of a result: two calls with the same one brought nothing new. */
export const resultMark = memoByText(markOf);

function markOf(text: string): string {
  const plain = bothEnds(text, MARK_CAP).replace(VARYING, '').replace(/\s+/g, ' ').trim();
  let hash = 0x811c9dc5;
  for (let at = 0; at < plain.length; at++) hash = Math.imul(hash ^ plain.charCodeAt(at), 0x01000193);
  return `${text.length < MARK_CAP ? plain.length : text.length}-${(hash >>> 0).toString(36)}`;
}

/**
 * The same call again and again, with the same arguments and the same result, and nothing changed in between. Failed calls
 * count as retries elsewhere; waiting for something is not a loop.
 */
export function findRepeatedCall({ evidence, calls }: TurnReading): Signal | undefined {
  const texts = new Map(evidence.next?.tools.map(({ callId, text }) => [callId, text]));
  for (const call of calls) {
    if (isFailedCall(call) || isWaiting(call.view)) continue;
    const text = texts.get(call.part.id);
    const times = timesBefore(call, evidence.earlier, text === undefined ? undefined : resultMark(text)) + 1;
    if (times < (isLook(call.view) ? PATIENCE_FOR_A_LOOK : PATIENCE)) continue;
    const reason = `${call.part.name}: the same call ${times} times, with the same result`;
    return { name: 'repeated', source: 'signal', score: 0.2, weight: 0.8, reason };
  }
  return undefined;
}

/** How often the call was made since the last change, each time with this result. Without a result of its own: with one result. */
function timesBefore(
  { part }: ToolCallReading,
  earlier: TurnEvidence['earlier'],
  mark: string | undefined,
): number {
  const wanted = essence(part.name, part.arguments);
  let same = mark;
  let times = 0;
  for (const before of earlier.toReversed()) {
    if (before.name === part.name && essence(before.name, before.arguments) === wanted) {
      same ??= before.result;
      if (before.failed || before.result === undefined || before.result !== same) break;
      times++;
    } else if (!before.failed && isChanging(readCall(before))) break;
  }
  // A call that has no result yet may bring a new one.
  return mark === undefined && times < PATIENCE_FOR_A_LOOK ? 0 : times;
}

const isChanging = ({ kind, programs }: CallView): boolean => kind === 'edit' || programs.some(isChange);

const isWaiting = ({ name, programs }: CallView): boolean =>
  WAITING_TOOL.test(name) || programs.some((program) => WAITING_PROGRAM.has(program.name));

const isLook = ({ kind, programs }: CallView): boolean =>
  kind === 'read' || kind === 'search' || (programs.length > 0 && programs.every(isLooking));

const isLooking = ({ name }: Program): boolean => LOOKING.has(name);
