import type { TurnReport } from '../gateway/turn.ts';
import type { Log } from './log.ts';

export function logTurn(log: Log, report: TurnReport): void {
  const { failure, ...fields } = report;
  if (failure === undefined) log.debug(fields, 'turn ended');
  else log.warn({ ...fields, failure: failure.kind, message: failure.message }, 'turn failed');
}
