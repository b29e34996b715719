import net from 'node:net';
import { type Order, spreadOf, type Tally } from './orders.ts';
import { DONE, replyLength } from './replies.ts';
import { createReplyReader } from './reply-reader.ts';
import { createRequest } from './requests.ts';

/** The load process: takes an order from its parent, carries it out, and says what came of it. */
const TURNS_PER_SESSION = 40;
const STUCK_MS = 30_000;

interface Run {
  readonly order: Order;
  readonly startedAt: number;
  readonly latencies: number[];
  readonly lags: number[];
  readonly faults: string[];
  begun: number;
  lost: number;
}

const nowUs = (): number => Number(process.hrtime.bigint() / 1000n);

async function carryOut(order: Order): Promise<Tally> {
  const startedAt = performance.now();
  const run: Run = { order, startedAt, latencies: [], lags: [], faults: [], begun: 0, lost: 0 };
  const stepMs = order.openOverMs / order.connections;
  const all = Array.from({ length: order.connections }, async (_, nth) => {
    if (stepMs > 0) await new Promise((resolve) => setTimeout(resolve, stepMs * nth));
    while (mayBegin(run)) await drive(run, nth);
  });
  await Promise.all(all);
  return {
    requests: run.latencies.length,
    lost: run.lost,
    ms: performance.now() - startedAt,
    latency: spreadOf(run.latencies),
    lag: spreadOf(run.lags),
    faults: run.faults,
  };
}

const mayBegin = ({ order: { until }, startedAt, begun }: Run): boolean => {
  const { ms = Number.POSITIVE_INFINITY, requests = Number.POSITIVE_INFINITY } = until;
  return begun < requests && performance.now() - startedAt < ms;
};

/** One connection from its opening to its end; resolves also when it breaks, with the request counted as lost. */
function drive(run: Run, connection: number): Promise<void> {
  const { order, latencies, lags, faults } = run;
  const { port, model, isExact } = order;
  const request = createRequest(port, order);
  const length = replyLength(model);
  const firstTurn = order.id * 1e9 + connection * 1e5;
  let turn = 0;
  let sentAt = 0;
  let isAsking = false;
  let text = '';

  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    const fail = (fault: string): void => {
      if (turn === 0) run.begun++;
      if (isAsking || turn === 0) run.lost++;
      isAsking = false;
      if (faults.length < 5) faults.push(fault);
      socket.destroy();
    };
    const next = (): void => {
      isAsking = mayBegin(run);
      if (!isAsking) return void socket.end();
      run.begun++;
      request.renumber(
        order.id * 1e6 + connection * 100 + Math.floor(turn / TURNS_PER_SESSION),
        firstTurn + turn,
      );
      turn++;
      sentAt = performance.now();
      socket.write(request.bytes);
    };
    const timed = (bytes: Buffer): void => {
      const arrived = nowUs();
      text += bytes.toString('latin1');
      const whole = text.lastIndexOf('\n') + 1;
      for (const [, at] of text.slice(0, whole).matchAll(/"@(\d{16})/g))
        lags.push((arrived - Number(at)) / 1000);
      text = text.slice(whole);
    };
    const read = createReplyReader({
      ...(model === 'bench-json' || model === 'bench-sse' ? {} : { onBody: timed }),
      onEnd: (status, bytes, tail) => {
        const isWhole = isExact ? bytes === length : bytes > 0;
        const isEnded = model === 'bench-json' || tail === DONE;
        if (status !== 200 || !isWhole || !isEnded) return fail(`${status}, ${bytes} bytes, ends "${tail}"`);
        latencies.push(performance.now() - sentAt);
        next();
      },
    });
    socket.setNoDelay(true);
    socket.setTimeout(STUCK_MS, () => fail('no reply for 30 s'));
    socket.on('connect', next);
    socket.on('data', read);
    socket.on('error', (error) => fail(error.message));
    socket.on('close', () => {
      if (isAsking) fail('the connection was closed');
      resolve();
    });
  });
}

process.on('message', (order: Order) => {
  void carryOut(order).then((tally) => process.send?.(tally));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
