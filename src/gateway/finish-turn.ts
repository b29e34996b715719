import type { Log } from '../base/log.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import { compact } from '../core/json.ts';
import type { GatewayContext } from './context.ts';
import { sendFailure, sendProviderError } from './error-reply.ts';
import type { IncomingTurn, ReplyMarks, RunningTurn, TurnReport, TurnResult } from './turn.ts';

/** The result of an attempt that threw: the gateway answers 500. */
export const unfinishedAttempt = ({ marks }: RunningTurn): TurnResult => ({
  outcome: { kind: 'sent', end: 'upstream-error', status: 500, failure: INTERNAL },
  target: undefined,
  policy: '',
  marks,
  tries: 0,
  modelMs: 0,
  credential: undefined,
});

const INTERNAL = createFailure('internal', 'Instar failed to serve this request. The log has the details.');

/** Whether a provider has accepted the caller's own credential. */
export const isProven = ({ outcome, credential }: TurnResult): boolean =>
  credential !== undefined && outcome.kind === 'sent' && outcome.status >= 200 && outcome.status < 300;

/** Ends a turn: the last failure goes to the client if nothing did, the outcome to the record, the metrics and the log. */
export function finishTurn(context: GatewayContext, recorded: RunningTurn, result: TurnResult): void {
  const { plan, turn, record } = recorded;
  const { outcome, target, policy, marks, tries, modelMs, credential } = result;
  if (outcome.kind === 'failed') {
    const { reply, failure } = outcome;
    if (reply === undefined) sendFailure(turn.response, turn.wire, failure, marks);
    else sendProviderError(turn, reply, failure, marks);
  }
  const isSent = outcome.kind === 'sent';
  const end = isSent ? outcome.end : 'upstream-error';
  const status = isSent ? outcome.status : outcome.failure.status;
  const { failure } = outcome;
  const totalMs = context.clock.monotonic() - turn.startedAt;
  record.end({
    status: end,
    httpStatus: status,
    policy,
    totalMs,
    ...compact({
      reasked: isSent ? outcome.reasked : undefined,
      caller: isProven(result) ? credential?.id : undefined,
      failure,
    }),
  });
  plan.ended?.(isSent && status < 400 && plan.ownReply === undefined);
  context.report({
    id: turn.id,
    session: turn.session.session,
    wire: turn.wire.name,
    provider: target?.provider ?? '',
    model: target?.model ?? plan.model,
    end,
    status,
    tries,
    totalMs,
    modelMs,
    ...(failure && compact({ failure, limitedBy: plan.limitedBy })),
  });
}

interface Refusal {
  readonly failure: Failure;
  readonly marks: ReplyMarks;
  readonly end?: 'refused' | 'upstream-error';
  readonly session?: string;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

/** Ends a turn for which no model is called: it is not recorded. */
export function refuseTurn(
  { clock, report }: GatewayContext,
  { id, wire, response, startedAt }: IncomingTurn,
  { failure, marks, end = 'refused', session = '', provider = '', model = '' }: Refusal,
): void {
  sendFailure(response, wire, failure, marks);
  report({
    id,
    session,
    wire: wire.name,
    provider,
    model,
    end,
    status: failure.status,
    tries: 0,
    totalMs: clock.monotonic() - startedAt,
    modelMs: 0,
    failure,
  });
}

/** One line of the log for a turn. */
export function logTurn(log: Log, report: TurnReport): void {
  const { failure } = report;
  if (failure === undefined) log.debug(report, 'turn ended');
  else {
    const totalMs = Math.round(report.totalMs);
    log.warn({ ...report, totalMs, failure: failure.kind, message: failure.message }, 'turn failed');
  }
}
