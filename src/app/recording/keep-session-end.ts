import type { Log } from '../../base/log.ts';
import type { Clock } from '../../core/clock.ts';
import type { Records } from '../../core/records.ts';

/** Records that the client declared its session ended. */
export function keepSessionEnd(session: string, records: Records, clock: Clock, log: Log): void {
  const fact = { type: 'session-end', session, reason: 'said by the client' } as const;
  records.append([{ at: clock.now(), fact }]).catch((error: unknown) => {
    log.warn({ err: error, session }, 'the end of a session could not be recorded');
  });
}
