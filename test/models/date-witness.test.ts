import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../src/core/upstream.ts';
import { withDateWitness } from '../../src/models/exchange.ts';

const DATE = 'Mon, 16 Nov 2026 09:00:00 GMT';

function run({ origin = 'https://api.example', status = 200, date = DATE as string | null, listens = true }) {
  const heard: number[] = [];
  const calls: string[] = [];
  const answer: Exchange = (_, sink) => {
    sink.onHead(status, date === null ? {} : { date });
    sink.onChunk(Buffer.from('x'));
    sink.onEnd();
    return { resume: () => undefined, abort: () => undefined };
  };
  const exchange = withDateWitness(answer, { isListening: () => listens, hear: (at) => heard.push(at) });
  exchange(
    { method: 'POST', origin, path: '/', headers: {}, body: undefined },
    {
      onHead: (code) => calls.push(`head ${code}`),
      onChunk: () => calls.push('chunk') > 0,
      onEnd: () => calls.push('end'),
      onFailure: () => calls.push('failure'),
    },
  );
  expect(calls).toEqual([`head ${status}`, 'chunk', 'end']);
  return heard;
}

describe('the dates of servers', () => {
  it('are heard from successful replies over TLS', () => {
    expect(run({})).toEqual([Date.UTC(2026, 10, 16, 9)]);
  });

  it.each([
    ['a server without TLS, which anyone on the way can be', { origin: 'http://api.example' }],
    ['a failed reply', { status: 502 }],
    ['a reply without a date', { date: null }],
    ['a reply with a date that is none', { date: 'tomorrow' }],
    ['anyone while nobody listens', { listens: false }],
  ])('are not heard from %s', (_, more) => {
    expect(run(more)).toEqual([]);
  });
});
