import type { Appraisal, TurnEvidence } from '../../core/evidence.ts';
import { allot, BYTES_PER_TOKEN, bytesOf, cutText } from './cut-text.ts';
import type { DataSection } from './fence-data.ts';

const MOST_TOKENS = 4000;
/** The headings and fences around the sections. */
const AROUND = 800;
const MOST_CALLS = 24;
const MOST_ARGUMENTS = 600;

/** A passage with the share of the room it is sure of. In the order in which they may have more. */
interface Part extends DataSection {
  readonly share: number;
}

/**
 * A turn for a judge, in at most 4,000 tokens: errors first and whole, then what was asked, what was done and what came
 * of it. Long texts lose their middle. What the model thought to itself is left out: it is no evidence.
 */
export function digestTurn(evidence: TurnEvidence, { digests, signals }: Appraisal): readonly DataSection[] {
  const said = evidence.reply.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const room = MOST_TOKENS * BYTES_PER_TOKEN - AROUND;
  const parts: readonly Part[] = [
    { label: 'errors that were seen', text: digests.join('\n'), share: 0.06 },
    { label: 'what the person asked for', text: evidence.task, share: 0.2 },
    { label: 'what the person said next', text: evidence.next?.user ?? '', share: 0.14 },
    { label: 'calls to tools, with what they returned', text: tellCalls(evidence, room * 0.3), share: 0.3 },
    { label: 'what the assistant said', text: said, share: 0.2 },
    { label: 'what the assistant reported of its tries', text: tellAttempts(evidence), share: 0.04 },
    { label: 'earlier calls that failed', text: tellEarlier(evidence), share: 0.03 },
    {
      label: 'signs that were seen',
      text: signals.map(({ name, reason }) => `${name}: ${reason}`).join('\n'),
      share: 0.03,
    },
  ];
  const sizes = parts.map(({ text }) => bytesOf(text));
  const given = allot(
    sizes,
    parts.map(({ share }) => Math.floor(share * room)),
    room,
  );
  return parts.map(({ label, text }, index) => ({ label, text: cutText(text, given[index] ?? 0) }));
}

function tellCalls({ reply, next }: TurnEvidence, room: number): string {
  const outcomes = new Map((next?.tools ?? []).map((outcome) => [outcome.callId, outcome]));
  const calls = reply.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
  const told = calls.slice(0, MOST_CALLS).map(({ id, name, arguments: given }) => {
    const outcome = outcomes.get(id);
    const isBad = outcome?.isError === true;
    const returned =
      outcome === undefined ? 'returned: nothing yet' : `${isBad ? 'failed' : 'returned'}: ${outcome.text}`;
    return { isBad, text: `${name} ${cutText(given, MOST_ARGUMENTS)}\n${returned}` };
  });
  // Failures are the first to get more room than their share, and stand where they stood.
  const order = [...told.keys()].sort((a, b) => Number(told[b]?.isBad) - Number(told[a]?.isBad) || a - b);
  const sizes = order.map((index) => bytesOf(told[index]?.text ?? ''));
  const each = Math.floor(room / Math.max(1, told.length));
  const given = allot(
    sizes,
    order.map(() => each),
    room,
  );
  const texts = told.map(({ text }, index) => cutText(text, given[order.indexOf(index)] ?? 0));
  const more = calls.length - told.length;
  return [...texts, ...(more > 0 ? [`(and ${more} more calls)`] : [])].join('\n\n');
}

const tellAttempts = ({ attempts }: TurnEvidence): string =>
  attempts.map(({ action, result, ok }) => `${ok ? 'worked' : 'failed'}: ${action}: ${result}`).join('\n');

const tellEarlier = ({ earlier }: TurnEvidence): string =>
  earlier
    .filter(({ failed }) => failed)
    .slice(-6)
    .map(({ name, arguments: given }) => `${name} ${cutText(given, 200)}`)
    .join('\n');
