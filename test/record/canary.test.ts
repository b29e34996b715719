import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { WIRE_NAMES, type WireName } from '../../src/core/wire.ts';
import { wires } from '../../src/wire/wires.ts';
import { ask } from '../support/client.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';
import { startProvider } from '../support/provider.ts';
import { ROUTES } from '../support/samples.ts';

/** Invented, with the shapes of real ones. */
const SECRETS: readonly string[] = [
  'sk-proj-Zx81kQp04LmNvB72yTgH55eRwA9cDfJ3',
  'sk-ant-api03-Qw7Er9Ty2Ui4Op6As8Df1Gh3Jk5Lz7Xc9Vb2Nm4-AAAAAA',
  'ghp_9aB8cD7eF6gH5iJ4kL3mN2oP1qR0sT9uV8wX',
  'AKIAQ7XW3ZP5VN2KJT4M',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnktMTIzNDU2Nzg5MCJ9.dBjftJeZ4CVPmB92K27uhbUJU1p1rwW1gFWFOEjXkQs',
  'hunter2-Canary-9f83kd02LsPq71',
];
const PROVIDER_KEY = 'provider-own-key-71f0b2c94d5e6a8790ab';
const CALLER_COOKIE = 'session=cookie-canary-4f2a1b9c8d7e6f50';

/** A sentence with the nth secret in a typical place. */
const phrase = (n: number): string =>
  [
    `use ${SECRETS[0]} please`,
    `Authorization: Bearer ${SECRETS[1]}`,
    `export GITHUB_TOKEN=${SECRETS[2]}`,
    `aws_access_key_id = ${SECRETS[3]}`,
    `{"jwt":"${SECRETS[4]}"}`,
    `DB_PASSWORD=${SECRETS[5]}`,
  ][n % 6] ?? '';

function bodies(wire: WireName, stream: boolean): object {
  const say = (n: number) => ({ type: 'text', text: phrase(n) });
  const tool = {
    name: 'run',
    description: phrase(2),
    parameters: { type: 'object', properties: { x: { description: phrase(0) } } },
  };
  if (wire === 'anthropic') {
    return {
      model: 'm-1',
      stream,
      max_tokens: 99,
      metadata: { user_id: phrase(1) },
      system: [say(0), say(1)],
      tools: [{ name: tool.name, description: tool.description, input_schema: tool.parameters }],
      messages: [
        { role: 'user', content: [say(2), say(3)] },
        {
          role: 'assistant',
          content: [
            say(4),
            { type: 'tool_use', id: 'c1', name: 'run', input: { cmd: phrase(5), password: SECRETS[5] } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [say(0), say(5)] }] },
      ],
      unknown_field: { deep: [phrase(3)] },
    };
  }
  if (wire === 'openai-chat') {
    return {
      model: 'm-1',
      stream,
      user: phrase(1),
      tools: [{ type: 'function', function: tool }],
      messages: [
        { role: 'system', content: phrase(0) },
        { role: 'user', content: [say(1), say(2)] },
        {
          role: 'assistant',
          content: phrase(3),
          tool_calls: [
            {
              id: 'c1',
              type: 'function',
              function: { name: 'run', arguments: JSON.stringify({ cmd: phrase(5), api_key: SECRETS[5] }) },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: phrase(4) },
      ],
      metadata: { note: phrase(5) },
    };
  }
  return {
    model: 'm-1',
    stream,
    instructions: phrase(0),
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: phrase(1) }] },
      { type: 'function_call', call_id: 'c1', name: 'run', arguments: JSON.stringify({ cmd: phrase(2) }) },
      { type: 'function_call_output', call_id: 'c1', output: phrase(5) },
    ],
    tools: [{ type: 'function', ...tool }],
    metadata: { note: phrase(3) },
    prompt_cache_key: `${SECRETS[2]}`,
  };
}

/** Every file of the home, raw, and every value of every table, decompressed if possible. */
function contents(dir: string): string[] {
  const files = (readdirSync(dir, { recursive: true }) as string[])
    .map((name) => path.join(dir, name))
    .filter((file) => statSync(file).isFile());
  const db = new DatabaseSync(path.join(dir, 'instar.sqlite'), { readOnly: true });
  const tables = db.prepare("select name from sqlite_master where type = 'table'").all() as {
    name: string;
  }[];
  const values = tables.flatMap(({ name }) =>
    db
      .prepare(`select * from "${name}"`)
      .all()
      .flatMap((row) => Object.values(row as object)),
  );
  db.close();
  return [...files.map((file) => readFileSync(file).toString('latin1')), ...values.map(readable)];
}

function readable(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value);
  try {
    return inflateRawSync(value).toString('utf8');
  } catch {
    return Buffer.from(value).toString('utf8');
  }
}

describe('secrets sent through every field of every wire, both ways', () => {
  it('are found nowhere in the home', async () => {
    const provider = await startProvider((request, response) => {
      const wire = WIRE_NAMES.find((name) => request.url.endsWith(wires[name].path)) ?? 'anthropic';
      const stream = JSON.parse(request.body.toString()).stream === true;
      const events = [
        { type: 'reply-start', id: `r ${SECRETS[0]}`, model: 'm-1' },
        { type: 'reasoning-delta', text: phrase(1) },
        { type: 'text-delta', text: phrase(0).slice(0, 12) },
        { type: 'text-delta', text: phrase(0).slice(12) },
        { type: 'tool-start', id: 'c2', name: 'run' },
        { type: 'tool-delta', id: 'c2', json: JSON.stringify({ token: SECRETS[5], cmd: phrase(2) }) },
        { type: 'reply-end', stop: 'tool-calls', usage: { inputTokens: 1, outputTokens: 1 } },
      ] as const;
      const encoder = wires[wire].createStreamEncoder();
      response.writeHead(200, {
        'content-type': stream ? 'text/event-stream' : 'application/json',
        'set-cookie': CALLER_COOKIE,
      });
      response.end(
        stream
          ? events.map((event) => encoder.encode(event)).join('')
          : JSON.stringify(wires[wire].encodeReply(events)),
      );
    });
    const home = makeHome({
      providers: {
        fake: { wire: ['openai', 'anthropic'], baseUrl: `${provider.url}/v1`, keyEnv: 'FAKE_KEY' },
      },
    });
    const daemon = await startDaemon(home.dir, [], { FAKE_KEY: PROVIDER_KEY });
    const owned = { authorization: `Bearer ${daemon.ownerKey}` };
    const headers = {
      authorization: `Bearer ${daemon.key}`,
      cookie: CALLER_COOKIE,
      'x-instar-agent': `agent ${SECRETS[0]}`,
      'x-instar-domain': `${SECRETS[2]}`,
    };
    let turn = '';
    for (const wire of WIRE_NAMES) {
      for (const stream of [true, false]) {
        const answer = await ask(daemon.port, {
          path: ROUTES[wire],
          headers,
          body: JSON.stringify(bodies(wire, stream)),
        });
        expect(answer.status).toBe(200);
        // Only the record is redacted, not the traffic.
        expect(answer.text).toContain(SECRETS[5]);
        turn = String(answer.headers['x-instar-turn']);
      }
    }
    const own = `the keys are ${PROVIDER_KEY} and ${daemon.key} and ${Buffer.from(PROVIDER_KEY).toString('base64')}`;
    const echoed = { model: 'm-1', messages: [{ role: 'user', content: own }] };
    await ask(daemon.port, { path: ROUTES['openai-chat'], headers, body: JSON.stringify(echoed) });
    const note = { turn, score: 1, note: phrase(5) };
    expect(
      (await ask(daemon.port, { path: '/v1/feedback', headers: owned, body: JSON.stringify(note) })).status,
    ).toBe(200);
    const event = { kind: 'agent_error', message: phrase(1), nested: { password: SECRETS[5] } };
    expect(
      (await ask(daemon.port, { path: '/v1/events', headers, body: JSON.stringify(event) })).status,
    ).toBe(200);
    const sessions = await ask(daemon.port, { method: 'GET', path: '/api/sessions', headers: owned });
    expect(JSON.parse(sessions.text).length).toBeGreaterThan(0);
    daemon.child.kill('SIGTERM');
    expect(await daemon.exited).toBe(0);

    const texts = contents(home.dir);
    const needles = [
      ...SECRETS,
      PROVIDER_KEY,
      CALLER_COOKIE.slice(8),
      Buffer.from(PROVIDER_KEY).toString('base64'),
    ];
    const found = needles.filter((needle) => texts.some((text) => text.includes(needle)));
    expect(found).toEqual([]);
    expect(texts.some((text) => text.includes(daemon.key) && !text.startsWith(daemon.key))).toBe(false);
    // Not vacuous: the text around the secrets is recorded, in plain and in compressed blocks.
    expect(texts.filter((text) => text.includes('[[secret:')).length).toBeGreaterThan(20);
    expect(texts.some((text) => text.includes('GITHUB_TOKEN='))).toBe(true);
    home.remove();
    await provider.close();
  }, 300_000);
});
