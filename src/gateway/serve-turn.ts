import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../core/caller.ts';
import type { Wire } from '../core/wire.ts';
import type { AdmissionSlot } from './admission.ts';
import type { TurnKind } from './client-clues.ts';
import type { GatewayContext } from './context.ts';
import { sendFailure } from './error-reply.ts';
import { forwardTurn } from './forward.ts';
import type { Identity } from './identify.ts';
import { receiveBody } from './read-body.ts';
import type { SessionMatch } from './session-matcher.ts';
import type { Turn } from './turn.ts';
import { watchDisconnect } from './turn.ts';

export interface TurnRoute {
  readonly kind: TurnKind;
  readonly wire: Wire;
  /** The path under a provider's base, with its query string. */
  readonly path: string;
}

/** Serves one request of a known wire, from first byte to last. Nothing here learns or waits for a learner. */
export async function serveTurn(
  context: GatewayContext,
  { kind, wire, path }: TurnRoute,
  slot: AdmissionSlot,
  caller: Caller | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { clock, maxBodyBytes } = context;
  const startedAt = clock.monotonic();
  const disconnect = watchDisconnect(response);
  const id = context.newId('t');
  const received = await receiveBody(request, maxBodyBytes, slot.hold);
  if ('kind' in received) {
    sendFailure(response, wire, received, { 'x-instar-turn': id });
    const refused = { provider: '', model: '', end: 'refused', status: received.status, tries: 0 } as const;
    const totalMs = clock.monotonic() - startedAt;
    context.report({ id, session: '', wire: wire.name, ...refused, totalMs, failure: received });
    return;
  }
  const { raw, body } = received;
  const outline = body === undefined ? undefined : wire.outline(body);
  const identity = context.identify({ kind, wire: wire.name, headers: request.headers, body, outline });
  const session = sessionOf(context, identity, body);
  const turn: Turn = {
    id,
    kind,
    wire,
    path,
    request,
    response,
    raw,
    body,
    outline,
    identity,
    session,
    caller,
    disconnect,
    startedAt,
  };
  const { target, end, status, tries, failure } = await forwardTurn(context, turn);
  const report = {
    id,
    session: session.session,
    wire: wire.name,
    provider: target?.provider ?? '',
    model: target?.model ?? outline?.model ?? '',
    end,
    status,
    tries,
    totalMs: clock.monotonic() - startedAt,
  };
  context.report(failure === undefined ? report : { ...report, failure });
  if (identity.sessionDone && identity.record) context.sessionEnded(session.session);
}

/** The client's session id, else the session whose message chain this request extends. */
function sessionOf(
  { sessions, newId }: GatewayContext,
  identity: Identity,
  body: Buffer | undefined,
): SessionMatch {
  if (identity.sessionId !== undefined) return { session: identity.sessionId };
  if (body === undefined) return { session: newId('s') };
  return sessions.byChain(body, `${identity.agent ?? identity.client ?? ''}\n${identity.project?.id ?? ''}`);
}
