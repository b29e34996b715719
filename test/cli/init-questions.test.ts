import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { CommandError } from '../../src/cli/context.ts';
import { askForProvider, confirmChange, offerLive } from '../../src/cli/init-questions.ts';
import type { Probe } from '../../src/doctor/probe-provider.ts';

const ENTER = '\r';
const DOWN = '\u001b[B';
const ESCAPE = '\u0003';

/** A simulated person at a terminal, who types each answer once its question is shown. */
function createPerson(answers: readonly (readonly [question: string, keys: readonly string[]])[]) {
  const input = new PassThrough();
  const output = new PassThrough();
  const left = [...answers];
  let seen = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    seen += text;
    const [question, keys] = left[0] ?? [];
    if (question === undefined || keys === undefined || !seen.includes(question)) return;
    left.shift();
    seen = '';
    // The prompt listens only once its question has been written.
    setImmediate(() => {
      for (const key of keys) input.write(key);
    });
  });
  return { io: { input, output }, left };
}

const probe = (models?: readonly string[]) => async (): Promise<Probe> => ({
  check: { id: 'provider', name: 'provider', status: 'ok', detail: 'answers' },
  models,
});

describe('askForProvider', () => {
  it('offers a provider whose key is set first, and the models it lists', async () => {
    const { io, left } = createPerson([
      ['Provider', [ENTER]],
      ['Default model', [DOWN, DOWN, ENTER]],
    ]);
    const { choice } = await askForProvider({
      io,
      env: { GROQ_API_KEY: 'k' },
      local: [],
      probe: probe(['m1', 'm2']),
    });
    expect(choice).toMatchObject({ name: 'groq', entry: { keyEnv: 'GROQ_API_KEY' }, model: 'm2' });
    expect(left).toEqual([]);
  });

  it('offers a local server before keys that are not set', async () => {
    const local = [{ name: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1', models: ['q'] }];
    const { io } = createPerson([
      ['Provider', [ENTER]],
      ['Default model', [ENTER]],
    ]);
    const { choice } = await askForProvider({ io, env: {}, local, probe: probe() });
    expect(choice).toEqual({
      name: 'ollama',
      entry: { wire: 'openai-chat', baseUrl: 'http://127.0.0.1:11434/v1' },
    });
  });

  it('offers the model of a local server for learning, but not where a key for another provider is set', async () => {
    const local = [{ name: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1', models: ['q'] }];
    const person = () =>
      createPerson([
        ['Provider', [ENTER]],
        ['Default model', [DOWN, ENTER]],
        ['also write lessons and judge', ['y']],
      ]);
    const only = person();
    const { choice } = await askForProvider({ io: only.io, env: {}, local, probe: probe(['q']) });
    expect(choice).toMatchObject({ name: 'ollama', model: 'q', learns: true });
    const keyed = createPerson([
      ['Provider', [DOWN, ENTER]],
      ['Default model', [DOWN, ENTER]],
    ]);
    const second = await askForProvider({
      io: keyed.io,
      env: { GROQ_API_KEY: 'k' },
      local,
      probe: probe(['q']),
    });
    expect(second.choice).toMatchObject({ name: 'ollama', model: 'q' });
    expect(second.choice.learns).toBeUndefined();
  });

  it('offers a pass-through without any key', async () => {
    const { io } = createPerson([
      ['Provider', [DOWN, ENTER]],
      ['Default model', ['claude-x', ENTER]],
    ]);
    const { choice } = await askForProvider({ io, env: {}, local: [], probe: probe() });
    expect(choice).toEqual({
      name: 'anthropic',
      entry: { wire: 'anthropic', baseUrl: 'https://api.anthropic.com/v1' },
      model: 'claude-x',
    });
  });

  it('asks for every setting of a custom server, and for the name of a variable (not for a key)', async () => {
    const { io, left } = createPerson([
      ['Provider', ['\u001b[A', ENTER]],
      ['Name of the provider', ['my-server', ENTER]],
      ['Base URL', ['https://gpu.example/v1', ENTER]],
      ['API format', [ENTER]],
      ['Environment variable with its key', ['MY_KEY', ENTER]],
      ['Default model', [ENTER]],
    ]);
    const { choice } = await askForProvider({ io, env: {}, local: [], probe: probe() });
    expect(left).toEqual([]);
    expect(choice).toEqual({
      name: 'my-server',
      entry: { wire: 'openai-chat', baseUrl: 'https://gpu.example/v1', keyEnv: 'MY_KEY' },
    });
  });

  it('changes nothing when the person cancels', async () => {
    const { io } = createPerson([['Provider', [ESCAPE]]]);
    await expect(askForProvider({ io, env: {}, local: [], probe: probe() })).rejects.toThrow(CommandError);
  });
});

describe('offerLive', () => {
  it('says what training on live traffic uses and how to stop it, and is off unless the person agrees', async () => {
    const asked = 'a verifier or you rated, and a judge as far as it agrees';
    const yes = createPerson([[asked, ['y']]]);
    expect(await offerLive(yes.io)).toBe(true);
    const stop = createPerson([['instar config set train.live false', [ENTER]]]);
    expect(await offerLive(stop.io)).toBe(false);
  });
});

describe('confirmChange', () => {
  it('returns false for no', async () => {
    const { io } = createPerson([['Change it?', ['n']]]);
    expect(await confirmChange(io, '/x/config.json')).toBe(false);
  });
});
