import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Timeouts } from '../../src/core/upstream.ts';
import { WIRE_NAMES } from '../../src/core/wire.ts';
import { wires } from '../../src/wire/wires.ts';
import { type Answer, ask } from '../support/client.ts';
import { providerAt, startGateway, type TestGateway } from '../support/gateway.ts';
import { closedPort, type Provider, type Reply, startProvider } from '../support/provider.ts';
import { ROUTES, requestBody, streamedReply, wholeReply } from '../support/samples.ts';
import { readStream } from '../wire/wire-contract.ts';
import { errorBody, FAULTS } from './fault-table.ts';

let reply: Reply = () => undefined;
let asked = 0;
let sent: Buffer[] = [];
let provider: Provider;

/** Where a reply is expected, no machine is too slow for it; where a time-out is expected, only that one is short. */
const LONG_MS = 60_000;
const SHORT_MS = 100;
const LONG: Omit<Timeouts, 'connectMs'> = { headersMs: LONG_MS, firstByteMs: LONG_MS, idleMs: LONG_MS };
const gateways = new Map<keyof typeof LONG | undefined, TestGateway>();

beforeAll(async () => {
  provider = await startProvider((request, response) => {
    const write = response.write.bind(response);
    response.write = ((chunk: string | Buffer) => {
      sent.push(Buffer.from(chunk as string));
      return write(chunk);
    }) as typeof response.write;
    return reply(request, response, ++asked);
  });
  for (const short of [undefined, 'headersMs', 'firstByteMs', 'idleMs'] as const) {
    const timeouts = short === undefined ? LONG : { ...LONG, [short]: SHORT_MS };
    gateways.set(short, await startGateway({ providers: [providerAt(provider.url, WIRE_NAMES)], timeouts }));
  }
});
afterAll(async () => {
  for (const gateway of gateways.values()) await gateway.close();
  await provider.close();
});

const rows = FAULTS.flatMap((fault) =>
  WIRE_NAMES.flatMap((wire) =>
    [true, false]
      .filter((stream) => fault.only === undefined || (fault.only === 'stream') === stream)
      .map((stream) => ({
        fault,
        wire,
        stream,
        title: `${wire}${stream ? ', streamed' : ''}: ${fault.name}`,
      })),
  ),
);

describe('the gateway in front of a failing provider', () => {
  it('is tested with at least 60 faults on every wire', () => {
    expect(FAULTS.length).toBeGreaterThanOrEqual(60);
    expect(new Set(rows.map(({ title }) => title)).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThan(280);
  });

  it.each(rows)('$title', async ({ fault, wire, stream }) => {
    const gateway = gateways.get(fault.timesOut);
    if (gateway === undefined) throw new Error('no gateway');
    const client = new EventEmitter();
    let received = 0;
    const clientHas = async (bytes: number): Promise<void> => {
      while (received < bytes) await once(client, 'bytes');
    };
    reply = fault.play(wire, stream, clientHas);
    asked = 0;
    sent = [];
    const answer = await ask(gateway.port, {
      path: ROUTES[wire],
      body: requestBody(wire, stream),
      onBytes: (bytes) => {
        received = bytes;
        client.emit('bytes');
      },
    });
    const { outcome } = fault;
    expect(asked).toBe(outcome.tries);
    if (outcome.sees === 'reply') {
      expect(answer).toMatchObject({ status: 200, whole: true });
      expect(answer.text).toBe(stream ? streamedReply(wire).join('') : wholeReply(wire));
    } else if (outcome.sees === 'provider error') {
      expect(answer).toMatchObject({
        status: outcome.status,
        whole: true,
        text: errorBody(wire, outcome.status),
      });
    } else if (outcome.sees === 'our error') {
      expect(answer).toMatchObject({ status: outcome.status, whole: true });
      expect(wires[wire].decodeFailure(answer.status, answer.text).kind).toBe(outcome.kind);
      expect(answer.text).not.toContain('<');
    } else if (outcome.sees === 'same bytes') {
      expect(answer).toMatchObject({ status: 200, whole: true });
      expect(answer.body.equals(Buffer.concat(sent))).toBe(true);
    } else expectCut(answer, wire);
    expect(gateway.faults).toEqual([]);
  });

  function expectCut(answer: Answer, wire: (typeof WIRE_NAMES)[number]): void {
    expect(answer.status).toBe(200);
    const delivered = Buffer.concat(sent);
    const common = answer.body.subarray(0, delivered.length);
    expect(delivered.subarray(0, common.length).equals(common)).toBe(true);
    if (!answer.whole) return;
    // The connection was not broken, so the stream must end with an error event.
    expect(answer.body.length).toBeGreaterThan(delivered.length);
    expect(readStream(wires[wire], answer.text).at(-1)).toMatchObject({ type: 'failure' });
  }

  it.each(WIRE_NAMES)('%s: a refused connection gives 502 and names the provider’s address', async (wire) => {
    const port = await closedPort();
    const unreachable = await startGateway({
      providers: [providerAt(`http://127.0.0.1:${port}`, WIRE_NAMES)],
    });
    const answer = await ask(unreachable.port, { path: ROUTES[wire], body: requestBody(wire, true) });
    expect(answer.status).toBe(502);
    expect(wires[wire].decodeFailure(502, answer.text).message).toContain(`127.0.0.1:${port}`);
    expect(unreachable.reports[0]).toMatchObject({ end: 'upstream-error', tries: 3 });
    await unreachable.close();
  });
});
