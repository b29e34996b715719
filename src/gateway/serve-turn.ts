import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Wire } from '../core/wire.ts';
import type { Visit } from './admission.ts';
import type { GatewayContext } from './context.ts';
import { receiveBody } from './read-body.ts';
import { refuse } from './refuse.ts';
import { tryTargets } from './try-targets.ts';
import type { TurnKind } from './turn.ts';

export interface TurnRoute {
  readonly kind: TurnKind;
  readonly wire: Wire;
  /** The path under a provider's base, with its query string. */
  readonly path: string;
}

/** Serves one request of a known wire, from its first byte to its last. Nothing here learns or waits for a learner. */
export async function serveTurn(
  context: GatewayContext,
  { kind, wire, path }: TurnRoute,
  visit: Visit,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { clock, maxBodyBytes } = context;
  const startedAt = clock.monotonic();
  const left = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) left.abort();
  });
  const id = context.newId('t');
  const base = { id, wire: wire.name };
  const received = await receiveBody(request, maxBodyBytes, visit.hold);
  if ('kind' in received) {
    refuse(response, wire, received, { 'x-instar-turn': id });
    const refused = { provider: '', model: '', end: 'refused', status: received.status, tries: 0 } as const;
    context.report({ ...base, ...refused, totalMs: clock.monotonic() - startedAt, failure: received });
    return;
  }
  const { raw, body } = received;
  const outline = body === undefined ? undefined : wire.outline(body);
  const turn = { id, kind, wire, path, request, response, raw, body, outline, signal: left.signal };
  const { target, ...served } = await tryTargets(context, turn);
  const named = { provider: target?.provider ?? '', model: target?.model ?? outline?.model ?? '' };
  context.report({ ...base, ...named, ...served, totalMs: clock.monotonic() - startedAt });
}
