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

/** The parts that the routes use. */
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
  /** Ends a session with its models and sampling sessions; named checkpoints are kept. */
  dropSession(session: Session): Promise<void>;
}
