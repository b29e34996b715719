import type { Clock } from '../../core/clock.ts';
import type { EngineProfile } from '../../core/training.ts';
import type { AwaitFuture } from './await-future.ts';
import type { Gate } from './gate.ts';
import type { Pace } from './pace.ts';
import type { Post } from './post.ts';
import type { ServerTraits } from './profiles.ts';
import type { ChunkLimits } from './split-data.ts';

/** What models and samplers of one connection share. */
export interface Wiring {
  readonly profile: EngineProfile;
  readonly traits: ServerTraits;
  readonly session: string;
  readonly post: Post;
  readonly awaitFuture: AwaitFuture;
  readonly chunks: ChunkLimits;
  /** Training requests that are under way, and samplings. */
  readonly training: Gate;
  readonly sampling: Gate;
  readonly pace: Pace;
  readonly clock: Clock;
  /** Aborts when the connection is closed. */
  readonly closing: AbortSignal;
  /** For the retries of one request; never the same twice, in this process or another. */
  readonly nextKey: (route: string) => string;
  readonly log: (line: string) => void;
}
