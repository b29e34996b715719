import { describe, expect, it, onTestFinished } from 'vitest';
import type { Failure } from '../../src/core/failure.ts';
import type { Timeouts } from '../../src/core/upstream.ts';
import { createExchange } from '../../src/models/exchange.ts';
import { type Reply, startProvider } from './provider.ts';

const PATIENT = { connectMs: 5_000, headersMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 };

/** The result of one exchange: the text that arrived, and the failure that ended it. */
async function ask(reply: Reply, timeouts: Partial<Timeouts>) {
  const { origin } = await startProvider(reply);
  const { exchange, close } = createExchange({ timeouts: { ...PATIENT, ...timeouts } });
  onTestFinished(close);
  return new Promise<{ readonly text: string; readonly failure?: Failure }>((resolve) => {
    let text = '';
    exchange(
      { method: 'GET', origin, path: '/', headers: {}, body: undefined },
      {
        onHead: () => undefined,
        onChunk: (chunk) => {
          text += chunk.toString();
          return true;
        },
        onEnd: () => resolve({ text }),
        onFailure: (failure) => resolve({ text, failure }),
      },
    );
  });
}

describe('the time-out of an exchange', () => {
  it('depends on the phase: a head may take longer than the idle time-out', async () => {
    const slowHead: Reply = (response) => {
      setTimeout(() => response.end('whole'), 200);
    };
    expect(await ask(slowHead, { idleMs: 40 })).toEqual({ text: 'whole' });
  });

  it('restarts with each chunk, and its message names the phase', async () => {
    const dripping: Reply = (response) => {
      let sent = 0;
      const drip = setInterval(() => {
        response.write('.');
        if (++sent === 5) clearInterval(drip);
      }, 250);
    };
    const { text, failure } = await ask(dripping, { idleMs: 4_000 });
    expect(text).toBe('.....');
    expect(failure).toMatchObject({ kind: 'timeout', message: expect.stringContaining('no further byte') });
    expect(failure?.message).toContain('4 s');
  });

  it('names the missing head (not a phase with a shorter time-out)', async () => {
    const { failure } = await ask(() => undefined, { headersMs: 150, idleMs: 20 });
    expect(failure).toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining('no reply for 0.15 s'),
    });
  });

  it('names the missing first byte after a head', async () => {
    const silent: Reply = (response) => response.writeHead(200).flushHeaders();
    const { failure } = await ask(silent, { firstByteMs: 100 });
    expect(failure).toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining('no first byte of its reply for 0.1 s'),
    });
  });
});
