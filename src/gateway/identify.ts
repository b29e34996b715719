import type { IncomingHttpHeaders } from 'node:http';
import type { Project, TurnRole } from '../core/fact.ts';
import type { Outline, WireName } from '../core/wire.ts';
import type { TurnKind } from './turn.ts';

export interface Identity {
  readonly client?: string;
  readonly sessionId?: string;
  readonly agent?: string;
  readonly role: TurnRole;
  readonly project?: Project;
  readonly runKind?: string;
  readonly domain?: string;
  readonly record: boolean;
  readonly sessionDone: boolean;
}

export interface Arrival {
  readonly kind: TurnKind;
  readonly wire: WireName;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer | undefined;
  readonly outline: Outline | undefined;
}

export function identify({ headers }: Arrival): Identity {
  const session = headers['x-instar-session'];
  return {
    role: 'main',
    record: headers['x-instar-record'] !== 'off',
    sessionDone: false,
    ...(typeof session === 'string' ? { sessionId: session } : {}),
  };
}
