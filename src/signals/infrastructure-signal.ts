import type { Signal } from '../core/evidence.ts';
import type { TurnStatus } from '../core/fact.ts';
import { INFRASTRUCTURE } from './compose-reward.ts';
import { findOutage } from './find-outage.ts';
import type { TurnReading } from './read-turn.ts';

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

/** Rate limits, time-outs, resets and aborts of the turn, of its tools, or of reported attempts. */
export function findInfrastructure(turn: TurnReading): Signal | undefined {
  const reason = reasonOf(turn);
  if (reason === undefined) return undefined;
  return { name: INFRASTRUCTURE, source: 'signal', score: 0.5, weight: 1, reason };
}

function reasonOf({ evidence, calls }: TurnReading): string | undefined {
  const kind = KINDS.exec(evidence.failure ?? '')?.[0];
  if (OUTSIDE.has(evidence.status)) return kind ?? evidence.status;
  if (kind !== undefined) return kind;
  if (INTERRUPTED.test(evidence.next?.user ?? '')) return 'interrupted';
  const outage = calls.find(({ outcome }) => outcome?.kind === 'outage');
  if (outage !== undefined) return `${outage.part.name}: ${outage.outcome?.reason ?? ''}`;
  const attempt = evidence.attempts.find(({ ok, result }) => !ok && findOutage(result) !== undefined);
  const isRetried = evidence.attempts.some(({ ok, action }) => ok && action === attempt?.action);
  return attempt === undefined || isRetried ? undefined : `attempt: ${findOutage(attempt.result)}`;
}
