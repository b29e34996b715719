import type { Appraisal, TurnEvidence } from '../../core/evidence.ts';
import { truncateMiddleBytes } from '../../text/truncate.ts';
import type { DataSection } from './fence-data.ts';

const MOST_TOKENS = 4000;
/** Bytes for the headings and fences around the sections. */
const AROUND = 800;
/** The share of the room; more when the other sections leave some free. */
const CALLS_SHARE = 0.3;
const MOST_CALLS = 12;
/** Bytes around a call's texts. */
const BETWEEN = 24;

/** A section with its guaranteed share of the room. Earlier sections get the free room first. */
interface Part extends DataSection {
  readonly share: number;
}

/**
 * A turn for a judge, in at most 4,000 tokens: errors first, then the request, the calls and their results. Long texts
 * lose their middle. Reasoning is left out: it is not evidence.
 */
export function digestTurn(evidence: TurnEvidence, { digests, signals }: Appraisal): readonly DataSection[] {
  const said = evidence.reply.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const room = MOST_TOKENS * BYTES_PER_TOKEN - AROUND;
  const parts = (calls: string): readonly Part[] => [
    { label: 'errors that were seen', text: digests.join('\n'), share: 0.06 },
    { label: 'what the person asked for', text: evidence.task, share: 0.2 },
    { label: 'what the person said next', text: evidence.next?.user ?? '', share: 0.14 },
    { label: 'calls to tools, with what they returned', text: calls, share: CALLS_SHARE },
    { label: 'what the assistant said', text: said, share: 0.2 },
    { label: 'what the assistant reported of its tries', text: tellAttempts(evidence), share: 0.04 },
    { label: 'earlier calls that failed', text: tellEarlier(evidence), share: 0.03 },
    {
      label: 'signs that were seen',
      text: signals.map(({ name, reason }) => `${name}: ${reason}`).join('\n'),
      share: 0.03,
    },
  ];
  const sizesFor = (all: readonly Part[]): readonly number[] =>
    allotBytes(
      all.map(({ text }) => utf8Bytes(text)),
      all.map(({ share }) => Math.floor(share * room)),
      room,
    );
  const others = sizesFor(parts('')).reduce((sum, size) => sum + size, 0);
  const all = parts(tellCalls(evidence, Math.max(CALLS_SHARE * room, room - others)));
  const given = sizesFor(all);
  return all.map(({ label, text }, index) => ({ label, text: truncateMiddleBytes(text, given[index] ?? 0) }));
}

/** Failed calls are chosen first and get more room, then the latest ones; all are shown in their order. */
function tellCalls({ reply, next }: TurnEvidence, room: number): string {
  const outcomes = new Map((next?.tools ?? []).map((outcome) => [outcome.callId, outcome]));
  const calls = reply
    .flatMap((part) => (part.type === 'tool-call' ? [part] : []))
    .map((call, index) => ({ ...call, index, outcome: outcomes.get(call.id) }));
  const isBad = ({ outcome }: (typeof calls)[number]): boolean => outcome?.isError === true;
  const chosen = calls
    .toSorted((a, b) => Number(isBad(b)) - Number(isBad(a)) || b.index - a.index)
    .slice(0, MOST_CALLS)
    .sort((a, b) => a.index - b.index);
  const weights = chosen.map((call) => (isBad(call) ? 3 : 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const told = chosen.map((call, index) => {
    const most = Math.floor((room * (weights[index] ?? 1)) / total) - BETWEEN;
    const head = `${call.name.slice(0, 100)} ${truncateMiddleBytes(call.arguments, Math.floor(most * 0.3))}`;
    if (call.outcome === undefined) return `${head}\nreturned: nothing yet`;
    const verb = isBad(call) ? 'failed' : 'returned';
    return `${head}\n${verb}: ${truncateMiddleBytes(call.outcome.text, Math.max(0, most - utf8Bytes(head)))}`;
  });
  const more = calls.length - told.length;
  return [...told, ...(more > 0 ? [`(and ${more} more calls)`] : [])].join('\n\n');
}

const tellAttempts = ({ attempts }: TurnEvidence): string =>
  attempts.map(({ action, result, ok }) => `${ok ? 'worked' : 'failed'}: ${action}: ${result}`).join('\n');

const tellEarlier = ({ earlier }: TurnEvidence): string =>
  earlier
    .filter(({ failed }) => failed)
    .slice(-6)
    .map(({ name, arguments: given }) => `${name} ${truncateMiddleBytes(given, 200)}`)
    .join('\n');

/** A lower bound: a token is about three bytes or more of prose, code or logs in any script. */
const BYTES_PER_TOKEN = 3;

const utf8Bytes = (text: string): number => Buffer.byteLength(text, 'utf8');

/**
 * How many bytes each of several texts may have. Each is guaranteed its share; the rest goes to the first texts that
 * need more.
 */
function allotBytes(sizes: readonly number[], shares: readonly number[], total: number): readonly number[] {
  const given = sizes.map((size, index) => Math.min(size, shares[index] ?? 0));
  let left = total - given.reduce((sum, size) => sum + size, 0);
  return given.map((size, index) => {
    const more = Math.max(0, Math.min(left, (sizes[index] ?? 0) - size));
    left -= more;
    return size + more;
  });
}
