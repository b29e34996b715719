import type { Signal, TurnStatus } from '../../core/evidence.ts';
import { blamesOutage, reportsOutage } from '../../reader/cues/outage-words.ts';
import { INFRASTRUCTURE } from '../compose-reward.ts';
import { findOutage } from '../tools/outages.ts';
import type { ToolCallReading, TurnReading } from '../turn-reading.ts';
import { lastTelling } from './closing-signals.ts';

/** Statuses that say nothing about the agent. `truncated`: the provider closed the connection; not a length limit. */
const OUTSIDE: ReadonlySet<TurnStatus> = new Set([
  'client-abort',
  'upstream-error',
  'truncated',
  'refused',
  'crashed',
]);
const KINDS = /^(?:rate-limited|overloaded|upstream-error|unreachable|timeout|truncated|aborted|internal)\b/;
const INTERRUPTED = /^\s*\[Request interrupted by user/;

/** Limits, time-outs, resets, missing credentials and aborts: of the turn, of its tools, or as somebody reports them. */
export function findInfrastructure(turn: TurnReading): Signal | undefined {
  const reason = reasonOf(turn);
  if (reason === undefined) return undefined;
  return { name: INFRASTRUCTURE, source: 'signal', score: 0.5, weight: 1, reason };
}

function reasonOf(turn: TurnReading): string | undefined {
  const { evidence, calls, answered, said } = turn;
  const kind = KINDS.exec(evidence.failure ?? '')?.[0];
  if (OUTSIDE.has(evidence.status)) return kind ?? evidence.status;
  if (kind !== undefined) return kind;
  const user = evidence.next?.user ?? '';
  if (INTERRUPTED.test(user)) return 'interrupted';
  const outage = calls.find(isOutage) ?? (calls.length === 0 ? lastTelling(answered) : undefined);
  if (outage !== undefined && isOutage(outage)) return `${outage.part.name}: ${outage.outcome?.reason ?? ''}`;
  if (reportsOutage(user)) return 'the user reports an outage';
  const hasFailed = answered.length === 0 || answered.at(-1)?.outcome?.kind !== 'green';
  if (calls.length === 0 && evidence.next === undefined && hasFailed && blamesOutage(said))
    return 'the agent reports an outage';
  // Whoever reached the end in spite of an outage did so.
  if (evidence.outcome === 'success') return undefined;
  const attempt = evidence.attempts.find(({ ok, result }) => !ok && findOutage(result) !== undefined);
  const isRetried = evidence.attempts.some(({ ok, action }) => ok && action === attempt?.action);
  return attempt === undefined || isRetried ? undefined : `attempt: ${findOutage(attempt.result)}`;
}

const isOutage = ({ outcome }: ToolCallReading): boolean => outcome?.kind === 'outage';
