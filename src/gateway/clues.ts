import type { IncomingHttpHeaders } from 'node:http';
import { type BodyPlaces, findPlaces } from './body-places.ts';
import { type ClientName, clientOf } from './client-of.ts';
import { type CodexTurn, readCodexTurn } from './codex-turn.ts';
import type { Arrival } from './identify.ts';
import { type OpenclawRuntime, readOpenclawRuntime } from './openclaw-runtime.ts';
import type { TurnKind } from './turn.ts';

/** What a request gives away about who sent it, each read once. */
export interface Clues {
  readonly kind: TurnKind;
  readonly headers: IncomingHttpHeaders;
  readonly places: BodyPlaces;
  readonly client?: ClientName;
  readonly codex?: CodexTurn;
  readonly openclaw?: OpenclawRuntime;
}

export function readClues({ kind, wire, headers, body }: Arrival): Clues {
  const places = findPlaces(wire, body);
  const client = clientOf(headers, places);
  const codex = readCodexTurn(headers);
  const openclaw = client === 'openclaw' ? readOpenclawRuntime(places) : undefined;
  return {
    kind,
    headers,
    places,
    ...(client !== undefined && { client }),
    ...(codex !== undefined && { codex }),
    ...(openclaw !== undefined && { openclaw }),
  };
}
