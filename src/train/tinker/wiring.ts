import type { Clock } from '../../core/clock.ts';
import type { EngineProfile } from '../../core/training.ts';
import type { AwaitFuture } from './await-future.ts';
import type { Gate } from './gate.ts';
import type { Pace } from './pace.ts';
import type { Post } from './post.ts';
import type { ServerTraits } from './profiles.ts';
import type { ChunkLimits } from './split-data.ts';

/** What the models and samplers of one connection share. */
export interface Wiring {
  readonly profile: EngineProfile;
  readonly traits: ServerTraits;
  readonly session: string;
  readonly post: Post;
  readonly awaitFuture: AwaitFuture;
  readonly chunks: ChunkLimits;
  /** Limits of the training requests and of the sampling requests in flight. */
  readonly training: Gate;
  readonly sampling: Gate;
  readonly pace: Pace;
  readonly clock: Clock;
  /** Aborts when the connection is closed. */
  readonly closing: AbortSignal;
  /** A new idempotency key, unique across processes. */
  readonly nextKey: (route: string) => string;
  readonly log: (line: string) => void;
}
