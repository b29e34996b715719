import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import type { ListedLesson, OfferedFlow } from '../../src/mcp/episode-api.ts';
import { createMcpServer } from '../../src/mcp/mcp-server.ts';
import { createMemoryEpisodeApi, DATES, type MemoryEpisodeApi } from './memory-episode-api.ts';

const open: Client[] = [];
const RELEASE: OfferedFlow = {
  name: 'release',
  parameters: [{ name: 'version', type: 'string', example: '2.0' }],
  steps: [
    { tool: 'tag', arguments: { name: { parameter: 'version' }, sign: { value: true } } },
    { tool: 'publish', arguments: { version: { parameter: 'version' } } },
  ],
};

async function connect(api: MemoryEpisodeApi): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'claude-code', version: '1.0.0' });
  await createMcpServer({ api, version: '0.1.0' }).connect(far);
  await client.connect(near);
  open.push(client);
  return client;
}

const textOf = (result: { readonly content?: unknown }): string =>
  (result.content as readonly { readonly text?: string }[]).map(({ text }) => text ?? '').join('\n');

afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});

describe('the MCP tools', () => {
  it('are seven, each with a description, an input schema and an output schema', async () => {
    const client = await connect(createMemoryEpisodeApi());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'end_episode',
      'give_feedback',
      'list_lessons',
      'log_attempt',
      'pull_experiences',
      'report_event',
      'start_episode',
    ]);
    for (const tool of tools) {
      expect(tool.description?.length).toBeGreaterThan(80);
      expect(tool.inputSchema.type).toBe('object');
      expect(tool.outputSchema?.type).toBe('object');
    }
    const attempt = tools.find(({ name }) => name === 'log_attempt');
    expect(attempt?.inputSchema.required).toEqual(['episode', 'action', 'result', 'ok']);
    const reads = tools.filter(({ annotations }) => annotations?.readOnlyHint === true);
    expect(reads.map(({ name }) => name).sort()).toEqual(['list_lessons', 'pull_experiences']);
  });

  it('list the flows in force for the client, as they are at that moment', async () => {
    const api = createMemoryEpisodeApi();
    const client = await connect(api);
    const flows = async () =>
      (await client.listTools()).tools.filter(({ name }) => name.startsWith('flow_')).map(({ name }) => name);
    expect(await flows()).toEqual([]);
    api.flowsFor.set('claude-code', [RELEASE]);
    api.flowsFor.set('someone-else', [{ ...RELEASE, name: 'hidden' }]);
    expect(await flows()).toEqual(['flow_release']);
    const told = await client.callTool({ name: 'flow_release', arguments: { version: '2.1' } });
    const calls = [
      { tool: 'tag', arguments: { name: '2.1', sign: true } },
      { tool: 'publish', arguments: { version: '2.1' } },
    ];
    expect(told.structuredContent).toEqual({ flow: 'release', calls });
    expect(JSON.parse(textOf(told))).toEqual({ flow: 'release', calls });
    const wrong = await client.callTool({ name: 'flow_release', arguments: { version: 2 } });
    expect(wrong.isError).toBe(true);
    api.flowsFor.clear();
    expect((await client.callTool({ name: 'flow_release', arguments: { version: '2.2' } })).isError).toBe(
      true,
    );
    expect(await flows()).toEqual([]);
  });

  it('list a flow with what it needs now, after it was revised', async () => {
    const api = createMemoryEpisodeApi();
    const client = await connect(api);
    api.flowsFor.set('claude-code', [RELEASE]);
    await client.listTools();
    const [step] = RELEASE.steps;
    api.flowsFor.set('claude-code', [
      {
        name: 'release',
        parameters: [],
        steps: [{ tool: 'tag', arguments: {} }, ...(step ? [{ ...step, arguments: {} }] : [])],
      },
    ]);
    const listed = (await client.listTools()).tools.find(({ name }) => name === 'flow_release');
    expect(listed?.inputSchema).toMatchObject({ type: 'object', properties: {} });
  });

  it('come with instructions for the model', async () => {
    const client = await connect(createMemoryEpisodeApi());
    expect(client.getServerVersion()?.name).toBe('instar');
    expect(client.getInstructions()).toContain('start_episode');
  });

  it('record a task from its start to its outcome', async () => {
    const api = createMemoryEpisodeApi();
    const client = await connect(api);
    const started = await client.callTool({
      name: 'start_episode',
      arguments: { task: ' write the date ', agent: 'writer', project: 'letters', domain: 'mail' },
    });
    expect(started.structuredContent).toEqual({
      episode: 'ep-1',
      lessons: '### iso-dates\n\nWrite dates as 2026-03-16.',
      ids: ['lesson-1'],
      said: [],
    });
    expect(textOf(started)).toContain('ep-1');
    expect(textOf(started)).toContain('Write dates as 2026-03-16.');
    const failed = await client.callTool({
      name: 'log_attempt',
      arguments: { episode: 'ep-1', action: 'wrote 3/16', result: 'ValueError', ok: false },
    });
    expect(failed.structuredContent).toEqual({ episode: 'ep-1', attempts: 1, failed: 1 });
    const worked = await client.callTool({
      name: 'log_attempt',
      arguments: { episode: 'ep-1', action: 'wrote 2026-03-16', result: '', ok: true },
    });
    expect(textOf(worked)).toContain('attempt 2 worked (1 of 2 failed)');
    const ended = await client.callTool({
      name: 'end_episode',
      arguments: { episode: 'ep-1', outcome: 'success', note: 'the format was it' },
    });
    expect(ended.structuredContent).toEqual({
      episode: 'ep-1',
      outcome: 'success',
      attempts: 2,
      failed: 1,
      learns: true,
    });
    expect(api.episodes.get('ep-1')).toMatchObject({
      task: 'write the date',
      agent: 'writer',
      project: 'letters',
      domain: 'mail',
      client: 'claude-code',
      outcome: 'success',
      note: 'the format was it',
    });
  });

  it('leave absent arguments absent (not undefined)', async () => {
    const api = createMemoryEpisodeApi();
    const client = await connect(api);
    await client.callTool({ name: 'start_episode', arguments: { task: 'x' } });
    expect(Object.keys(api.episodes.get('ep-1') ?? {}).sort()).toEqual(['attempts', 'client', 'task']);
  });

  it('continue an episode over another connection (the API stores it)', async () => {
    const api = createMemoryEpisodeApi();
    const first = await connect(api);
    await first.callTool({ name: 'start_episode', arguments: { task: 'x' } });
    await first.close();
    const second = await connect(api);
    const ended = await second.callTool({
      name: 'end_episode',
      arguments: { episode: 'ep-1', outcome: 'failure' },
    });
    expect(ended.isError).toBeFalsy();
  });

  it('recall lessons without an episode, and say so when there are none', async () => {
    const api = createMemoryEpisodeApi();
    const client = await connect(api);
    const pulled = await client.callTool({
      name: 'pull_experiences',
      arguments: { task: 'a date', limit: 3, agent: 'writer' },
    });
    expect(pulled.structuredContent).toEqual({
      lessons: '### iso-dates\n\nWrite dates as 2026-03-16.',
      ids: ['lesson-1'],
      said: [],
    });
    expect(api.queries).toEqual([{ limit: 3, agent: 'writer', client: 'claude-code' }]);
    const nothing = await client.callTool({ name: 'pull_experiences', arguments: { task: 'cook' } });
    expect(nothing.structuredContent).toEqual({ lessons: '', ids: [], said: [] });
    expect(textOf(nothing)).toContain('No lesson fits this task');
    expect(api.episodes.size).toBe(0);
  });

  it('say when something was said, and which day it was about', async () => {
    const client = await connect(createMemoryEpisodeApi());
    const pulled = await client.callTool({ name: 'pull_experiences', arguments: { task: 'the crate' } });
    expect(pulled.structuredContent).toMatchObject({
      said: [{ at: '2026-11-19T09:00:00.000Z', times: [{ words: 'yesterday', means: '18 November 2026' }] }],
    });
  });

  it('give the whole text of a lesson by its name, and say which names are unknown', async () => {
    const client = await connect(createMemoryEpisodeApi());
    const pull = (args: Record<string, unknown>) =>
      client.callTool({ name: 'pull_experiences', arguments: args });
    const named = await pull({ name: 'iso-dates' });
    expect(named.structuredContent).toEqual({
      lessons: '### iso-dates\n\nWrite dates as 2026-03-16.',
      ids: ['lesson-1'],
      said: [],
    });
    expect(textOf(await pull({ name: 'nope' }))).toContain('No lesson named "nope"');
    const neither = await pull({ agent: 'writer' });
    expect(neither.isError).toBe(true);
    expect(textOf(neither)).toContain('Give the task, or the name of a lesson');
  });

  it('list lessons by state and kind', async () => {
    const draft: ListedLesson = { ...DATES, id: 'lesson-2', name: 'draft', state: 'proposed', kind: 'fix' };
    const client = await connect(createMemoryEpisodeApi([DATES, draft]));
    const proposed = await client.callTool({ name: 'list_lessons', arguments: { state: 'proposed' } });
    expect(proposed.structuredContent).toEqual({ lessons: [draft], total: 1 });
    expect(textOf(proposed)).toBe('- draft (fix, proposed, lesson-2): When a date is written.');
    const none = await client.callTool({ name: 'list_lessons', arguments: { kind: 'identity' } });
    expect(textOf(none)).toBe('No matching lessons.');
  });

  it('cut a long list and say how many are missing', async () => {
    const many = Array.from({ length: 130 }, (_, at) => ({ ...DATES, id: `lesson-${at}` }));
    const client = await connect(createMemoryEpisodeApi(many));
    const listed = await client.callTool({ name: 'list_lessons', arguments: {} });
    expect((listed.structuredContent as { lessons: readonly unknown[] }).lessons).toHaveLength(100);
    expect((listed.structuredContent as { total: number }).total).toBe(130);
    expect(textOf(listed)).toContain('and 30 more');
  });

  it('pass on feedback about exactly one subject (not two, not none)', async () => {
    const api = createMemoryEpisodeApi();
    const client = await connect(api);
    const given = await client.callTool({
      name: 'give_feedback',
      arguments: { episode: 'ep-1', score: -0.5, note: 'too long' },
    });
    expect(given.structuredContent).toEqual({ taken: true });
    expect(api.feedbacks).toEqual([{ subject: { episode: 'ep-1' }, score: -0.5, note: 'too long' }]);
    for (const wrong of [{ score: 1 }, { score: 1, turn: 't', session: 's' }]) {
      const refused = await client.callTool({ name: 'give_feedback', arguments: wrong });
      expect(refused.isError).toBe(true);
      expect(textOf(refused)).toContain('exactly one of episode, turn and session');
    }
    expect(api.feedbacks).toHaveLength(1);
  });

  it('return a refusal as an error with its fix (not as a broken connection)', async () => {
    const client = await connect(createMemoryEpisodeApi());
    const refused = await client.callTool({
      name: 'log_attempt',
      arguments: { episode: 'nope', action: 'a', result: 'b', ok: true },
    });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain('No episode has this id.');
    expect(textOf(refused)).toContain('start_episode');
  });

  it('return an error when the API rejects, and continue', async () => {
    const client = await connect(createMemoryEpisodeApi());
    const broken = await client.callTool({ name: 'pull_experiences', arguments: { task: 'break' } });
    expect(broken.isError).toBe(true);
    expect(textOf(broken)).toContain('the API failed');
    const after = await client.callTool({ name: 'list_lessons', arguments: {} });
    expect(after.isError).toBeFalsy();
  });

  it('name the invalid argument and do not call the API', async () => {
    const api = createMemoryEpisodeApi();
    const client = await connect(api);
    const wrong: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
      ['start_episode', { task: '  ' }, /State the task/],
      ['start_episode', { task: 'x'.repeat(8001) }, /at most 8000 characters/],
      ['end_episode', { episode: 'ep-1', outcome: 'great' }, /outcome/],
      ['log_attempt', { episode: 'ep-1', action: 'a', result: 'b' }, /ok/],
      ['report_event', { kind: 'Not A Name' }, /kind/],
      ['give_feedback', { turn: 't', score: 2 }, /score/],
      ['pull_experiences', { task: 'x', limit: 0 }, /limit/],
    ];
    for (const [name, args, message] of wrong) {
      const refused = await client.callTool({ name, arguments: args });
      expect(refused.isError).toBe(true);
      expect(textOf(refused)).toMatch(message);
    }
    expect([api.reports, api.queries, api.feedbacks]).toEqual([[], [], []]);
  });

  it('keep the start and the end of an output that is too long', async () => {
    const api = createMemoryEpisodeApi();
    const client = await connect(api);
    await client.callTool({ name: 'start_episode', arguments: { task: 'x' } });
    const result = `begin${'.'.repeat(50_000)}TypeError: end`;
    await client.callTool({
      name: 'log_attempt',
      arguments: { episode: 'ep-1', action: 'ran it', result, ok: false },
    });
    const kept = api.episodes.get('ep-1')?.attempts[0]?.result ?? '';
    expect(kept.length).toBeLessThan(13_000);
    expect(kept.startsWith('begin')).toBe(true);
    expect(kept.endsWith('TypeError: end')).toBe(true);
    expect(kept).toContain('characters left out');
  });
});
