import type { IncomingHttpHeaders } from 'node:http';
import type { Project } from '../core/fact.ts';
import type { Outline, WireName } from '../core/wire.ts';
import { type BodyPlaces, findPlaces } from './body-places.ts';
import { type ClientName, clientOf } from './client-of.ts';
import { type CodexTurn, readCodexTurn } from './codex-turn.ts';
import { type OpenclawRuntime, readOpenclawRuntime } from './openclaw-runtime.ts';

/**
 * `chat` asks a model, `count` asks for a prompt's length in tokens, `other` is a provider's route that is only passed
 * on (embeddings, files, stored responses).
 */
export type TurnKind = 'chat' | 'count' | 'other';

/** A request whose body has been received. */
export interface Arrival {
  readonly kind: TurnKind;
  readonly wire: WireName;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer | undefined;
  readonly outline: Outline | undefined;
}

/** What a request reveals about its sender; each part is read once. */
export interface Clues {
  readonly kind: TurnKind;
  readonly headers: IncomingHttpHeaders;
  readonly places: BodyPlaces;
  readonly client: ClientName | undefined;
  readonly codex: CodexTurn | undefined;
  readonly openclaw: OpenclawRuntime | undefined;
}

/** What earlier turns of the same conversation revealed, so that it is not searched for again. */
export interface Known {
  readonly client: ClientName | undefined;
  readonly project: Project | undefined;
}

export function readClues({ kind, wire, headers, body, outline }: Arrival, known?: Known): Clues {
  const places = findPlaces(wire, body, outline);
  const client = known ? known.client : clientOf(headers, places);
  const codex = readCodexTurn(headers);
  const openclaw = client === 'openclaw' ? readOpenclawRuntime(places) : undefined;
  return { kind, headers, places, client, codex, openclaw };
}
