import net from 'node:net';
import { type LoadOrder, type LoadResult, spreadOf } from './load-order.ts';
import { createRequest, DONE, replyLength } from './traffic.ts';

interface ReplyEvents {
  /** A piece of the body, without chunk framing. */
  onBody?: (bytes: Buffer) => void;
  onEnd: (status: number, bodyLength: number, tail: string) => void;
}

type Phase = 'head' | 'counted' | 'size' | 'chunk' | 'trailer';
const TAIL = 14;

/** Reads HTTP/1.1 replies from a connection with as little CPU as possible. */
function createHttpReplyReader({ onBody, onEnd }: ReplyEvents): (bytes: Buffer) => void {
  let phase: Phase = 'head';
  let line = '';
  let status = 0;
  let missing = 0;
  let length = 0;
  let tail = '';

  const take = (bytes: Buffer): void => {
    length += bytes.length;
    const end = bytes.toString('latin1', Math.max(0, bytes.length - TAIL));
    tail = end.length === TAIL ? end : (tail + end).slice(-TAIL);
    onBody?.(bytes);
  };
  const finish = (): void => {
    phase = 'head';
    line = '';
    onEnd(status, length, tail);
  };
  const begin = (head: string): void => {
    status = Number(head.slice(9, 12));
    length = 0;
    tail = '';
    const counted = /\ncontent-length: *(\d+)/i.exec(head);
    phase = counted ? 'counted' : 'size';
    missing = Number(counted?.[1] ?? 0);
    if (counted && missing === 0) finish();
  };
  /** The position after the mark, which may arrive in several pieces; undefined when it is incomplete. */
  const until = (mark: string, bytes: Buffer, at: number): number | undefined => {
    // The network can split a mark, so the kept part of the line is searched again.
    const text = line + bytes.toString('latin1', at, Math.min(bytes.length, at + 2048));
    const found = text.indexOf(mark);
    if (found >= 0) {
      const next = at + found + mark.length - line.length;
      line = text.slice(0, found);
      return next;
    }
    line = text;
    return undefined;
  };

  return (bytes) => {
    let at = 0;
    while (at < bytes.length) {
      if (phase === 'counted' || phase === 'chunk') {
        const piece = bytes.subarray(at, at + missing);
        at += piece.length;
        missing -= piece.length;
        take(piece);
        if (missing > 0) return;
        if (phase === 'counted') finish();
        else phase = 'size';
        continue;
      }
      const next = until(phase === 'head' ? '\r\n\r\n' : '\r\n', bytes, at);
      if (next === undefined) return;
      at = next;
      const text = line;
      line = '';
      if (phase === 'head') begin(text);
      else if (phase === 'trailer') finish();
      else if (text !== '') {
        missing = Number.parseInt(text, 16);
        phase = missing === 0 ? 'trailer' : 'chunk';
      }
    }
  };
}

/** The load process: receives an order from its parent, carries it out and replies with the result. */
const TURNS_PER_SESSION = 40;

/** One simulated agent. Its conversation continues from one order to the next, so that a slow subject does not see more sessions than a fast one. */
interface Lane {
  session: number;
  turnsLeft: number;
}
const lanes = new Map<string, Lane>();
let sessions = 0;
let turns = 0;

const STUCK_MS = 30_000;

interface Run {
  readonly order: LoadOrder;
  readonly startedAt: number;
  readonly latencies: number[];
  readonly lags: number[];
  readonly faults: string[];
  begun: number;
  lost: number;
}

const nowUs = (): number => Number(process.hrtime.bigint() / 1000n);

async function carryOut(order: LoadOrder): Promise<LoadResult> {
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

/** One connection until it closes; a broken one counts its request as lost. */
function drive(run: Run, connection: number): Promise<void> {
  const { order, latencies, lags, faults } = run;
  const { port, model, isExact } = order;
  const request = createRequest(port, order);
  const length = replyLength(model);
  const pauseMs = order.perSecond === undefined ? 0 : (order.connections / order.perSecond) * 1000;
  const lane = laneOf(`${port} ${model} ${order.size} ${connection}`);
  let isConnected = false;
  let sentAt = 0;
  let isAsking = false;
  let text = '';

  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    const fail = (fault: string): void => {
      if (!isConnected) run.begun++;
      if (isAsking || !isConnected) run.lost++;
      isAsking = false;
      if (faults.length < 5) faults.push(fault);
      socket.destroy();
    };
    const next = (): void => {
      isAsking = mayBegin(run);
      if (!isAsking) return void socket.end();
      run.begun++;
      request.renumber(...nextTurn(lane));
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
    const read = createHttpReplyReader({
      ...(model === 'bench-json' || model === 'bench-sse' ? {} : { onBody: timed }),
      onEnd: (status, bytes, tail) => {
        const isWhole = isExact ? bytes === length : bytes > 0;
        const isEnded = model === 'bench-json' || tail === DONE;
        if (status !== 200 || !isWhole || !isEnded) return fail(`${status}, ${bytes} bytes, ends "${tail}"`);
        isAsking = false;
        latencies.push(performance.now() - sentAt);
        if (pauseMs === 0) next();
        else setTimeout(next, Math.max(0, sentAt + pauseMs - performance.now()));
      },
    });
    socket.setNoDelay(true);
    socket.setTimeout(STUCK_MS, () => fail('no reply for 30 s'));
    socket.on('connect', () => {
      isConnected = true;
      next();
    });
    socket.on('data', read);
    socket.on('error', (error) => fail(error.message));
    socket.on('close', () => {
      if (isAsking) fail('the connection was closed');
      resolve();
    });
  });
}

function laneOf(name: string): Lane {
  let lane = lanes.get(name);
  if (lane === undefined) {
    lane = { session: 0, turnsLeft: 0 };
    lanes.set(name, lane);
  }
  return lane;
}

/** The numbers of a lane's session and of its next turn, all unique. */
function nextTurn(lane: Lane): [session: number, turn: number] {
  if (lane.turnsLeft === 0) {
    lane.session = ++sessions;
    lane.turnsLeft = TURNS_PER_SESSION;
  }
  lane.turnsLeft--;
  return [lane.session, ++turns];
}

process.on('message', (order: LoadOrder) => {
  void carryOut(order).then((tally) => process.send?.(tally));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
