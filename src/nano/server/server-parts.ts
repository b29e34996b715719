import type { Clock } from '../../core/clock.ts';
import type { Engine } from '../engine.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Futures } from './futures.ts';
import type { KnownKeys } from './known-keys.ts';
import type { Limits } from './limits.ts';
import type { Models } from './models.ts';
import type { Samplers } from './samplers.ts';
import type { Sampling } from './sampling.ts';
import type { Session, Sessions } from './sessions.ts';

/** What the routes are made of. */
export interface ServerParts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly sessions: Sessions;
  readonly models: Models;
  readonly samplers: Samplers;
  readonly sampling: Sampling;
  readonly checkpoints: Checkpoints;
  readonly futures: Futures;
  readonly keys: KnownKeys;
  /** With all that belongs to it, except for checkpoints that have a name. */
  dropSession(session: Session): Promise<void>;
}
