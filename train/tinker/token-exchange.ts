import type { Clock } from '../../src/core/clock.ts';
import { errorMessage } from '../../src/core/failure.ts';
import { asNumber, asObject, asString, parseJson } from '../../src/core/json.ts';
import { TrainingError } from '../../src/core/training.ts';
import { jsonCall, type Post } from './post.ts';
import type { Transport } from './transport.ts';

interface TokenExchangeOptions {
  /** Sends with the key itself. */
  readonly transport: Transport;
  /** The same, with retries. */
  readonly post: Post;
  readonly clock: Clock;
  readonly nextKey: (route: string) => string;
  readonly closing: AbortSignal;
  readonly log: (line: string) => void;
}

interface Token {
  readonly text: string;
  readonly fetchedAt: number;
  readonly lastsMs: number;
}

/** A token with less left than this is exchanged for a new one before it is used; the official client's value. */
const RENEW_MS = 300_000;
/** For a token that does not say how long it lasts. */
const UNKNOWN_MS = RENEW_MS + 60_000;

/**
 * The same transport with short-lived tokens in place of the key, for servers whose settings ask for it (`pjwt_auth_enabled`): the
 * key goes to `auth/token` alone. A request that is refused with 401 is sent once more with a new token, since the server did not
 * accept it. When no new token can be had, the old one is used until it ends. Rejects with a TrainingError when the first one is refused.
 */
export async function openTokenExchange(options: TokenExchangeOptions): Promise<Transport> {
  const { transport, post, clock, nextKey, closing, log } = options;
  let token: Token | undefined;
  let fetching: Promise<Token> | undefined;

  const fetchToken = async (): Promise<Token> => {
    const outcome = await post({
      call: jsonCall('auth/token', {}),
      key: nextKey('auth/token'),
      signal: closing,
    });
    if (outcome.kind === 'aborted') throw new TrainingError('unknown', 'the connection was closed');
    if (outcome.kind !== 'answered') throw outcome.error;
    const text = asString(outcome.body.jwt);
    if (text === undefined || !/^[\x21-\x7e]+$/.test(text))
      throw new TrainingError('server', 'auth/token: the answer has no token');
    token = { text, fetchedAt: clock.monotonic(), lastsMs: lifetimeOf(text) };
    return token;
  };
  /** Several requests ask at the same time. */
  const renew = (): Promise<Token> => {
    fetching ??= fetchToken().finally(() => {
      fetching = undefined;
    });
    return fetching;
  };
  const leftOf = ({ fetchedAt, lastsMs }: Token): number => lastsMs - (clock.monotonic() - fetchedAt);
  const current = async (): Promise<Token> => {
    if (token !== undefined && leftOf(token) > Math.min(RENEW_MS, token.lastsMs / 2)) return token;
    try {
      return await renew();
    } catch (error) {
      if (token === undefined || leftOf(token) <= 0) throw error;
      log(`the token could not be renewed: ${errorMessage(error)}`);
      return token;
    }
  };

  await renew();
  return {
    heardAt: transport.heardAt,
    send: async (call, signal) => {
      const sendWith = ({ text }: Token) =>
        transport.send({ ...call, headers: { ...call.headers, 'x-api-key': text } }, signal);
      try {
        const used = await current();
        const reply = await sendWith(used);
        if (reply.kind !== 'answer' || reply.status !== 401) return reply;
        return await sendWith(token === used ? await renew() : await current());
      } catch (error) {
        if (signal.aborted) return { kind: 'none', why: 'aborted', detail: 'aborted' };
        return {
          kind: 'none',
          why: 'unreachable',
          detail: errorMessage(error),
        };
      }
    },
  };
}

/** By the token's own words, so that a wrong clock on this machine does not matter. Its signature is the server's business. */
function lifetimeOf(token: string): number {
  const claims = asObject(parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
  const [from, until] = [asNumber(claims.iat), asNumber(claims.exp)];
  return from === undefined || until === undefined || until <= from ? UNKNOWN_MS : (until - from) * 1000;
}
