import type { Log } from '../base/log.ts';
import type { TurnReport } from '../gateway/turn.ts';

export function logTurn(log: Log, report: TurnReport): void {
  const { failure } = report;
  if (failure === undefined) log.debug(report, 'turn ended');
  else log.warn({ ...report, failure: failure.kind, message: failure.message }, 'turn failed');
}
