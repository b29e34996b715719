import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { LESSON_PLACES } from '../../src/core/lesson.ts';
import { WIRE_NAMES, type WireName } from '../../src/core/wire.ts';
import { ask, askOwner } from '../support/client.ts';
import { countOf } from '../support/counts.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { ROUTES, wholeReply } from '../support/samples.ts';

const REPAIR = 'pip install --requirement tools/loader.txt';
const FIX = {
  op: 'add',
  id: 'yaml',
  kind: 'fix',
  state: 'live',
  text: lessonText({
    name: 'loader-requirements',
    description: 'When the loader misses a module.',
    content: 'The requirements of the loader are in a file of their own.',
    scope: { agent: 'builder' },
    overlay: {
      payload: { type: 'fix_template', error: 'ModuleNotFoundError @ load.py:42', repair: [REPAIR] },
    },
  }),
};
/** The same error on another line: the digest of the fix has line 42. */
const FAILED = `Traceback (most recent call last):
  File "/srv/app/load.py", line 57, in <module>
    import yaml
ModuleNotFoundError: No module named 'yaml'
Exit code 1`;

const wireOf = (url: string): WireName =>
  url.includes('messages') ? 'anthropic' : url.includes('responses') ? 'openai-responses' : 'openai-chat';

const TASK = { role: 'user', content: 'Load the settings of the harbour into the table.' };
/** A call of the tool and its result, as each wire writes them. */
const STEP: Readonly<Record<WireName, (id: string, output: string) => readonly object[]>> = {
  anthropic: (id, content) => [
    { role: 'assistant', content: [{ type: 'tool_use', id, name: 'Bash', input: { command: 'run' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
  ],
  'openai-chat': (id, content) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'shell', arguments: '{"command":"run"}' } }],
    },
    { role: 'tool', tool_call_id: id, content },
  ],
  'openai-responses': (id, output) => [
    { type: 'function_call', call_id: id, name: 'shell', arguments: '{"command":"run"}' },
    { type: 'function_call_output', call_id: id, output },
  ],
};
const bodyOf = (wire: WireName, messages: readonly object[]): string => {
  const list = wire === 'openai-responses' ? { input: messages } : { messages };
  return JSON.stringify({ model: 'm-1', ...(wire === 'anthropic' ? { max_tokens: 9 } : {}), ...list });
};

describe.each(LESSON_PLACES.slice(0, countOf(1, LESSON_PLACES.length)))(
  'a fix, lessons in the %s',
  (place) => {
    let provider: Provider;
    let home: ReturnType<typeof makeHome>;
    let daemon: RunningDaemon;

    beforeAll(async () => {
      provider = await startProvider(({ url }, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(wholeReply(wireOf(url)));
      });
      home = makeHome({
        providers: { fake: { wire: ['openai', 'anthropic'], baseUrl: `${provider.url}/v1` } },
        library: { place },
      });
      daemon = await startDaemon(home.dir);
      const { results } = await owner('POST', '/api/lessons', { changes: [FIX], reason: 'a test' });
      expect(results).toMatchObject([{ status: 'applied' }]);
    });
    afterAll(async () => {
      daemon.child.kill('SIGTERM');
      await daemon.exited;
      await provider.close();
      home.remove();
    });

    const owner = (method: string, path: string, body?: object): Promise<JsonObject> =>
      askOwner(daemon, method, path, body);
    const send = async (wire: WireName, session: string, messages: readonly object[], agent = 'builder') => {
      const { headers } = await ask(daemon.port, {
        path: ROUTES[wire],
        body: bodyOf(wire, messages),
        headers: { 'x-instar-key': daemon.key, 'x-instar-session': session, 'x-instar-agent': agent },
      });
      return {
        turn: String(headers['x-instar-turn']),
        lessons: headers['x-instar-lessons'],
        sent: provider.seen.at(-1)?.body.toString() ?? '',
      };
    };
    const expectWhy = (turn: string, why: object) =>
      vi.waitFor(
        async () => expect((await owner('GET', `/api/turns/${turn}/why`)).lessons).toMatchObject([why]),
        { timeout: 100_000, interval: 50 },
      );

    it.each(WIRE_NAMES)('is shown behind its error over %s, once, and stays there', async (wire) => {
      const session = `recurs-${wire}`;
      const before = await send(wire, session, [TASK, ...STEP[wire]('c1', 'Exit code 0\nok')]);
      expect(before.sent).toBe(bodyOf(wire, [TASK, ...STEP[wire]('c1', 'Exit code 0\nok')]));
      const failing = [TASK, ...STEP[wire]('c1', 'Exit code 0\nok'), ...STEP[wire]('c2', FAILED)];
      const told = await send(wire, session, failing);
      expect(told.lessons).toBe('yaml');
      expect(told.sent).toContain('Seen before: ModuleNotFoundError @ load.py.');
      expect(told.sent.indexOf(REPAIR)).toBeGreaterThan(told.sent.indexOf('No module named'));
      expect(JSON.parse(told.sent)).toBeTypeOf('object');
      expect((await send(wire, session, failing)).sent).toBe(told.sent);
      const later = await send(wire, session, [...failing, ...STEP[wire]('c3', FAILED)]);
      expect(later.sent.split(REPAIR)).toHaveLength(2);
      const common = told.sent.slice(0, told.sent.indexOf(REPAIR) + REPAIR.length);
      expect(later.sent.startsWith(common)).toBe(true);
    });

    it('says that the error is the reason, and for turns without it that none came up', async () => {
      const { turn } = await send('openai-chat', 'why', [TASK, ...STEP['openai-chat']('c1', FAILED)]);
      await expectWhy(turn, {
        id: 'yaml',
        verdict: 'shown',
        because: 'it is shown because of the error ModuleNotFoundError @ load.py',
      });
      const other = await send('openai-chat', 'why-not', [TASK]);
      await expectWhy(other.turn, { id: 'yaml', verdict: 'no-error' });
    });

    it('is shown to nobody outside its scope, for no other error, and also for an error that the user pastes', async () => {
      const failing = [TASK, ...STEP['openai-chat']('c1', FAILED)];
      expect((await send('openai-chat', 'stranger', failing, 'writer')).sent).not.toContain(REPAIR);
      const others = FAILED.replaceAll('load.py', 'store.py');
      const other = await send('openai-chat', 'other', [TASK, ...STEP['openai-chat']('c1', others)]);
      expect(other.sent).not.toContain(REPAIR);
      const pasted = await send('openai-chat', 'pasted', [
        { role: 'user', content: `What is this?\n${FAILED}` },
      ]);
      expect(pasted.sent).toContain(REPAIR);
    });

    it('is gone from new sessions when it is retired', async () => {
      await owner('POST', '/api/lessons', { changes: [{ op: 'retire', id: 'yaml', reason: 'over' }] });
      const { sent } = await send('anthropic', 'after', [TASK, ...STEP.anthropic('c1', FAILED)]);
      expect(sent).toBe(bodyOf('anthropic', [TASK, ...STEP.anthropic('c1', FAILED)]));
    });
  },
);
