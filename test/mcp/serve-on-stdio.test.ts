import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { asObject } from '../../src/core/json.ts';
import { serveOnStdio } from '../../src/mcp/serve-on-stdio.ts';
import { createMemoryEpisodeApi, type MemoryEpisodeApi } from './memory-episode-api.ts';

function serve(api: MemoryEpisodeApi) {
  const input = new PassThrough();
  const output = new PassThrough();
  const leaving = new AbortController();
  const errors: string[] = [];
  let out = '';
  output.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  const served = serveOnStdio(
    { api, version: '0.0.0' },
    { input, output, signal: leaving.signal, report: ({ message }) => errors.push(message) },
  );
  const say = (message: object): void =>
    void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const answers = () =>
    out
      .split('\n')
      .filter(Boolean)
      .map((line) => asObject(JSON.parse(line)));
  return { input, output, leaving, errors, served, say, answers };
}

const HELLO = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'pi', version: '1' } },
};
const call = (id: number, name: string, args: object): object => ({
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

describe('the MCP server on two streams', () => {
  it('writes parallel reports in the order of their arrival', async () => {
    const api = createMemoryEpisodeApi();
    const { input, served, say } = serve(api);
    say(HELLO);
    say(call(1, 'start_episode', { task: 'x' }));
    for (let id = 2; id < 8; id++)
      say(call(id, 'log_attempt', { episode: 'ep-1', action: `try ${id}`, result: '', ok: id > 5 }));
    say(call(8, 'end_episode', { episode: 'ep-1', outcome: 'success' }));
    input.end();
    await served;
    expect(api.reports).toEqual(['start ep-1', ...Array(6).fill('attempt ep-1'), 'end ep-1']);
    expect(api.episodes.get('ep-1')?.attempts.map(({ action }) => action)).toEqual(
      [2, 3, 4, 5, 6, 7].map((id) => `try ${id}`),
    );
  });

  it('ends at the signal with all reports written, though the replies are lost', async () => {
    const api = createMemoryEpisodeApi();
    const { leaving, served, say, answers } = serve(api);
    say(HELLO);
    say(call(1, 'start_episode', { task: 'x' }));
    while (answers().length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    say(call(2, 'log_attempt', { episode: 'ep-1', action: 'a', result: '', ok: true }));
    await new Promise((resolve) => setTimeout(resolve, 2));
    leaving.abort();
    await served;
    expect(api.reports).toEqual(['start ep-1', 'attempt ep-1']);
  });

  it('ends at once when the signal was aborted before the start', async () => {
    const { leaving, served } = serve(createMemoryEpisodeApi());
    leaving.abort();
    await served;
  });

  it('ends and reports it when its output fails', async () => {
    const { output, errors, served, say } = serve(createMemoryEpisodeApi());
    output.destroy(new Error('EPIPE'));
    say(HELLO);
    await served;
    expect(errors).toContain('EPIPE');
  });

  it('ends when a line is too long (not when the memory is full)', async () => {
    const { input, errors, served } = serve(createMemoryEpisodeApi());
    const megabyte = Buffer.alloc(1 << 20, 'x');
    for (let at = 0; at < 11; at++) input.write(megabyte);
    await served;
    expect(errors.join()).toContain('exceeded maximum size');
  });

  it('does not wait for a cancelled call', async () => {
    const api = createMemoryEpisodeApi();
    const never = { ...api, recall: () => new Promise<never>(() => undefined) };
    const { input, served, say, answers } = serve(never);
    say(HELLO);
    say(call(1, 'pull_experiences', { task: 'x' }));
    say({ method: 'notifications/cancelled', params: { requestId: 1 } });
    input.end();
    await served;
    expect(answers().map(({ id }) => id)).toEqual([0]);
  });
});
