import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readMemory, untilQuiet } from './child-process.ts';
import { sum } from './load-order.ts';
import { createHome, type InstarProcess, startInstar, storeBytes } from './start-instar.ts';
import type { GatewayBench } from './subjects.ts';
import { createText } from './traffic.ts';

export interface MemorySample {
  readonly requests: number;
  readonly rssMb: number;
}

const QUIET_MS = 2000;

/** Memory of one process at rest after increasing numbers of requests. */
export async function measureMemory(
  bench: GatewayBench,
  rungs: readonly number[],
): Promise<readonly MemorySample[]> {
  const { main, upstreamPort } = bench;
  const instar = await startInstar({ main, upstreamPort });
  const seen: MemorySample[] = [{ requests: 0, rssMb: readMemory(instar.pid)?.rssMb ?? Number.NaN }];
  for (const requests of rungs) {
    await bench.load({
      port: instar.port,
      model: 'bench-json',
      size: '1 KB',
      headers: instar.headers,
      connections: 16,
      openOverMs: 0,
      until: { requests: requests - (seen.at(-1)?.requests ?? 0) },
      isExact: true,
    });
    await untilQuiet(instar.pid);
    await sleep(QUIET_MS);
    seen.push({ requests, rssMb: readMemory(instar.pid)?.rssMb ?? Number.NaN });
  }
  await instar.close();
  return seen;
}

/** Disk space of a coding agent's conversation. */
export interface Growth {
  readonly turns: number;
  /** Of the last request: instructions and tools, and the messages. */
  readonly fixedBytes: number;
  readonly messageBytes: number;
  readonly sentBytes: number;
  readonly storedBytes: number;
  readonly storedPerTurn: number;
  readonly storedShare: number;
}

const TURNS = 40;
const SYSTEM_BYTES = 15_000;
const TOOLS = 30;
const TOOL_BYTES = 900;
const MESSAGE_BYTES = 85_000;

/** Every turn sends the whole conversation again in Anthropic's format, as coding agents do: 45 KB that stay, and messages that grow. */
export async function measureGrowth(bench: GatewayBench): Promise<Growth> {
  const { main, upstreamPort } = bench;
  const home = createHome(upstreamPort);
  const words = createText(5);
  const system = [{ type: 'text', text: words(SYSTEM_BYTES), cache_control: { type: 'ephemeral' } }];
  const tools = Array.from({ length: TOOLS }, (_, nth) => ({
    name: `tool_${nth}`,
    description: words(TOOL_BYTES),
    input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  }));
  const messages: object[] = [];
  const sent: number[] = [];
  // Started once before, so that the size of an empty store is not counted.
  await withInstar(async () => undefined);
  const before = storeBytes(home);
  await withInstar(async (instar) => {
    for (let turn = 0; turn < TURNS; turn++) {
      messages.push(...(turn === 0 ? [{ role: 'user', content: words(perTurn) }] : step(turn)));
      const body = JSON.stringify({ model: 'bench-json', max_tokens: 8000, messages, system, tools });
      sent.push(body.length);
      await post(instar, body);
    }
  });
  const storedBytes = storeBytes(home) - before;
  rmSync(home, { recursive: true, force: true });
  const sentBytes = sum(sent);
  return {
    turns: TURNS,
    fixedBytes: JSON.stringify({ system, tools }).length,
    messageBytes: JSON.stringify(messages).length,
    sentBytes,
    storedBytes,
    storedPerTurn: storedBytes / TURNS,
    storedShare: storedBytes / sentBytes,
  };

  async function withInstar(work: (instar: InstarProcess) => Promise<void>): Promise<void> {
    const instar = await startInstar({ main, upstreamPort, home });
    await work(instar);
    await instar.close();
  }

  /** The agent calls a tool, and the tool answers. */
  function step(turn: number): object[] {
    const call = {
      type: 'tool_use',
      id: `toolu_${turn}`,
      name: `tool_${turn % TOOLS}`,
      input: { path: words(60) },
    };
    const result = { type: 'tool_result', tool_use_id: `toolu_${turn}`, content: words(perTurn - 700) };
    return [
      { role: 'assistant', content: [{ type: 'text', text: words(300) }, call] },
      { role: 'user', content: [result] },
    ];
  }
}

const perTurn = MESSAGE_BYTES / TURNS;

async function post({ port, headers: asKnown }: InstarProcess, body: string): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
    'x-api-key': 'sk-bench',
    'x-instar-session': 'bench-growth',
    ...asKnown,
  };
  const reply = await fetch(`http://127.0.0.1:${port}/v1/messages`, { method: 'POST', headers, body });
  await reply.arrayBuffer();
  if (reply.status !== 200) throw new Error(`the growing conversation got ${reply.status}`);
}
