import { afterEach, expect, it } from 'vitest';
import { ask } from '../support/client.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';
import { startProvider } from '../support/provider.ts';
import { requestBody } from '../support/samples.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const WORDS = 'my neighbour Aurelia owes me forty crowns';

it.each(['json', 'pretty'])(
  '(S13) words of a conversation that a provider quotes in an error do not reach standard error as %s (the journal kept them)',
  async (format) => {
    const provider = await startProvider((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `cannot read the message "${WORDS}"` } }));
    });
    undo.push(() => provider.close());
    const home = makeHome({
      providers: { up: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
      models: { default: 'up/m' },
    });
    undo.push(() => home.remove());
    const daemon = await startDaemon(home.dir, [], {}, ['--log', format]);
    undo.push(async () => {
      daemon.child.kill('SIGTERM');
      await daemon.exited;
    });
    let written = '';
    daemon.child.stderr?.on('data', (chunk: Buffer) => {
      written += chunk.toString();
    });
    const answer = await ask(daemon.port, {
      path: '/v1/chat/completions',
      body: requestBody('openai-chat', false),
      headers: { authorization: `Bearer ${daemon.key}` },
    });
    // Whoever asked gets the provider's words.
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(WORDS);
    await expect.poll(() => written, { timeout: 60_000 }).toContain('turn failed');
    expect(written).toContain('bad-request');
    expect(written).not.toContain('Aurelia');
  },
  120_000,
);
