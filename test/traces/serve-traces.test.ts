import { afterEach, describe, expect, it, vi } from 'vitest';
import { readTraceHeaders, traceSecrets } from '../../src/config/trace-headers.ts';
import { noRecord, type TurnIntent, type TurnRecord, type TurnRecorder } from '../../src/core/recorder.ts';
import { type ServedTraces, serveTraces } from '../../src/traces/serve-traces.ts';

// Threads and processes are started, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });
const WAIT = { timeout: 100_000, interval: 50 };
const recorder: TurnRecorder = { room: () => undefined, start: () => noRecord };
const intent = (n: number): TurnIntent => ({
  turn: `t_${n}`,
  session: 's',
  agent: 'a',
  role: 'main',
  wire: 'openai-chat',
  model: 'm',
  generation: 0,
  policy: 'p/m',
  lessons: [],
  caller: 'k',
  body: undefined,
});
const OUTCOME = { status: 'complete', httpStatus: 200, policy: 'p/m', totalMs: 1 } as const;

let traces: ServedTraces | undefined;
const lines: string[] = [];
const open = (url: string | undefined): ServedTraces => {
  const say = (fields: object | string, message?: string): void =>
    void lines.push(`${JSON.stringify(fields)} ${message}`);
  traces = serveTraces({
    settings: () => ({ url, content: false }),
    headers: () => ({}),
    place: '/nowhere/instar.sqlite',
    nameOf: () => undefined,
    log: { debug: say, info: say, warn: say, error: say },
    everyMs: 10,
  });
  return traces;
};
afterEach(async () => {
  await traces?.close();
  lines.length = 0;
});

describe('traces', () => {
  it('add nothing to a turn while they are off', async () => {
    const off = open(undefined);
    expect(off.recorder(recorder).start(intent(1))).toBe(noRecord);
    expect(await off.text()).toBe('');
  });

  it('of a record that cannot be read are counted as lost, with one line in the log for all of them', async () => {
    const on = open('http://127.0.0.1:1');
    for (const n of [1, 2]) on.recorder(recorder).start(intent(n)).end(OUTCOME);
    await vi.waitFor(async () => expect(await on.text()).toContain('{reason="unrecorded"} 2'), WAIT);
    on.recorder(recorder).start(intent(3)).end(OUTCOME);
    await vi.waitFor(async () => expect(await on.text()).toContain('{reason="unrecorded"} 3'), WAIT);
    expect(lines.filter((line) => line.includes('not taken'))).toHaveLength(1);
  });

  it('that wait are at most 4,096; later ones are dropped and counted, and the caller returns at once', async () => {
    const on = open('http://127.0.0.1:1');
    const traced = on.recorder(recorder);
    for (let n = 0; n < 5000; n++) traced.start(intent(n)).end(OUTCOME);
    expect(await on.text()).toContain(`{reason="queue"} ${5000 - 4096}`);
  });

  it('pass everything on to the recorder that they wrap', () => {
    const seen: string[] = [];
    const record: TurnRecord = {
      head: () => void seen.push('head'),
      chunk: () => void seen.push('chunk'),
      end: () => void seen.push('end'),
    };
    const inner: TurnRecorder = { ...recorder, start: () => record };
    const wrapped = open('http://127.0.0.1:1').recorder(inner).start(intent(1));
    wrapped.head('text/plain', undefined);
    wrapped.chunk(Buffer.from('x'));
    wrapped.end(OUTCOME);
    expect(seen).toEqual(['head', 'chunk', 'end']);
  });
});

describe('the headers for the receiver', () => {
  const read = (text: string) => readTraceHeaders({ headersEnv: 'H' }, { H: text });

  it('are read as OTEL_EXPORTER_OTLP_HEADERS has them, percent-encoding included', () => {
    expect(read('Authorization=Bearer%20abc, x-scope = a=b ')).toEqual({
      authorization: 'Bearer abc',
      'x-scope': 'a=b',
    });
    expect(read('x=100%')).toEqual({ x: '100%' });
  });

  it('leave out what is no header, what breaks lines, and what the sender sets itself', () => {
    expect(read('nonsense,=x,a b=1,x=a%0D%0Aevil: 1,content-type=text/plain,host=x,ok=1')).toEqual({
      ok: '1',
    });
    expect(readTraceHeaders({}, { H: 'a=b' })).toEqual({});
  });

  it('are secrets, with what stands behind Bearer', () => {
    expect(traceSecrets({ headersEnv: 'H' }, { H: 'authorization=Bearer abc' })).toEqual([
      'Bearer abc',
      'abc',
    ]);
  });
});
