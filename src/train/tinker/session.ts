import type { Clock } from '../../core/clock.ts';
import { asString } from '../../core/json.ts';
import { TrainingError } from '../../core/training.ts';
import { explainRefusal } from './explain-refusal.ts';
import type { Pace } from './pace.ts';
import { jsonCall, type Post } from './post.ts';
import type { Transport } from './transport.ts';

/** A session with a server. Its models and samplers last as long as its heartbeats. */
export interface Session {
  readonly id: string;
  close(): void;
}

export interface SessionOptions {
  readonly transport: Transport;
  readonly post: Post;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly key: string;
  readonly closing: AbortSignal;
  readonly log: (line: string) => void;
}

/** Some servers choose the wire format by it. */
const SDK_VERSION = '0.25.0';

export async function openSession(options: SessionOptions): Promise<Session> {
  const { transport, post, pace, clock, key, closing, log } = options;
  const call = jsonCall('create_session', {
    tags: ['instar'],
    user_metadata: {},
    sdk_version: SDK_VERSION,
    type: 'create_session',
  });
  const made = await post({ call, key, signal: closing });
  if (made.kind === 'aborted') throw new TrainingError('unknown', 'the connection was closed');
  if (made.kind !== 'answered') throw made.error;
  const id = asString(made.body.session_id);
  if (id === undefined || id === '')
    throw new TrainingError('server', 'create_session: the answer names no session');
  for (const name of ['info_message', 'warning_message', 'error_message']) {
    const message = asString(made.body[name]);
    if (message !== undefined) log(`the server says: ${message.slice(0, 500)}`);
  }

  let beatAt = clock.monotonic();
  let isBeating = false;
  let wasSilent = false;
  const beat = async (): Promise<void> => {
    if (isBeating) return;
    isBeating = true;
    const heartbeat = jsonCall('session_heartbeat', { session_id: id, type: 'session_heartbeat' });
    const reply = await transport.send({ ...heartbeat, timeoutMs: pace.requestMs }, closing);
    isBeating = false;
    if (reply.kind === 'answer' && reply.status < 300) {
      if (wasSilent) log('heartbeats succeed again');
      wasSilent = false;
      beatAt = clock.monotonic();
    } else if (reply.kind === 'answer' && (reply.status === 404 || reply.status === 410)) {
      clearInterval(timer);
      log(`the session is over: ${explainRefusal(reply).message}`);
    } else if (!wasSilent && clock.monotonic() - beatAt >= pace.silenceMs && !closing.aborted) {
      wasSilent = true;
      log(`no heartbeat succeeded for ${Math.round((clock.monotonic() - beatAt) / 1000)} s`);
    }
  };
  // The timer must not keep the process alive.
  const timer = setInterval(() => void beat(), pace.heartbeatMs).unref();
  return { id, close: () => clearInterval(timer) };
}
