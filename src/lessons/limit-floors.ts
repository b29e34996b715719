import { isFlowPolicy, type TurnLimits } from '../core/overlay.ts';
import { basePrincipal, principalOfSession } from '../core/principal.ts';
import type { Records, TurnView } from '../core/store.ts';

/** The shortest waits that a learned limit may set, in milliseconds. */
export interface LimitFloors {
  readonly headersMs: number;
  readonly idleMs: number;
}

const LEAST_WAIT_MS = 30_000;
/** A learned wait leaves this many times what the agent's slowest replies took. */
const MARGIN = 3;
/** With fewer measured turns nothing is known of the slowest. */
const FEWEST_TURNS = 20;
/** A dropped connection or a busy provider is cured by one further try; without it, every hiccup would reach the client. */
const LEAST_RETRIES = 1;
const LEAST_LESSONS = 1;
/** Each further one costs a whole reply. */
const MOST_REASKS = 1;

/** The floors of an agent that was not measured. */
export const LEAST_FLOORS: LimitFloors = { headersMs: LEAST_WAIT_MS, idleMs: LEAST_WAIT_MS };

/** Limits that were learned, within the floors. Absent ones stay absent. */
export function withinFloors<Limits extends TurnLimits>(limits: Limits, floors: LimitFloors): Limits {
  const { retries, headersMs, idleMs, lessons, reasks } = limits;
  return {
    ...limits,
    ...(retries === undefined ? {} : { retries: Math.max(retries, LEAST_RETRIES) }),
    ...(headersMs === undefined ? {} : { headersMs: Math.max(headersMs, floors.headersMs) }),
    ...(idleMs === undefined ? {} : { idleMs: Math.max(idleMs, floors.idleMs) }),
    ...(lessons === undefined ? {} : { lessons: Math.max(lessons, LEAST_LESSONS) }),
    ...(reasks === undefined ? {} : { reasks: Math.min(reasks, MOST_REASKS) }),
  };
}

type MeasuredTurn = Pick<TurnView, 'status' | 'policy' | 'firstByteMs' | 'totalMs'>;

/** Three times the 99th percentile of what complete replies took, and never under 30 s. */
export function floorsOf(turns: readonly MeasuredTurn[]): LimitFloors {
  const measured = turns.filter(({ status, policy }) => status === 'complete' && !isFlowPolicy(policy));
  const floorOf = (values: readonly number[]): number =>
    values.length < FEWEST_TURNS ? LEAST_WAIT_MS : Math.max(LEAST_WAIT_MS, Math.ceil(MARGIN * p99Of(values)));
  return {
    headersMs: floorOf(measured.flatMap(({ firstByteMs }) => firstByteMs ?? [])),
    // No pause within a reply is longer than the whole of it.
    idleMs: floorOf(measured.flatMap(({ totalMs }) => totalMs ?? [])),
  };
}

function p99Of(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(0.99 * sorted.length) - 1] ?? 0;
}

const MOST_SESSIONS = 50;
const MOST_OF_SESSION = 40;
const MOST_TURNS = 400;

/** Whose replies are measured. */
export interface MeasuredAgent {
  readonly agent: string | undefined;
  readonly member: string | undefined;
}

/** The floors of an agent by its newest recorded turns. Rejects with `StoreError`. */
export async function readLimitFloors(
  records: Pick<Records, 'sessions' | 'turns'>,
  { agent, member }: MeasuredAgent,
): Promise<LimitFloors> {
  if (agent === undefined) return LEAST_FLOORS;
  const turns: TurnView[] = [];
  for (const { id, erased } of await records.sessions({
    limit: MOST_SESSIONS,
    agent,
    withoutPractice: true,
  })) {
    if (turns.length >= MOST_TURNS) break;
    if (erased || basePrincipal(principalOfSession(id)) !== basePrincipal(member)) continue;
    const newest = await records.turns(id, { limit: MOST_OF_SESSION, fromEnd: true });
    turns.push(...newest.filter((turn) => turn.agent === agent));
  }
  return floorsOf(turns);
}
