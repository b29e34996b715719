import { afterAll, beforeAll } from 'vitest';
import { makeHome, type RunningDaemon, startDaemon } from './daemon.ts';
import { type Provider, startProvider } from './provider.ts';
import { wholeReply } from './samples.ts';

interface ServedHome {
  readonly dir: string;
  readonly provider: Provider;
  /** A test that restarts it puts the new one here. */
  daemon: RunningDaemon;
  /** The body of the last request that the provider got. */
  prompt: string;
}

/**
 * A real daemon for the tests of a file, before a provider that answers every request with the same words; nothing asks a model to
 * write lessons or to judge. `prepare` gets the folder before the start.
 */
export function serveHome(
  settings: object = {},
  prepare: (dir: string) => void = () => undefined,
): ServedHome {
  const served = { prompt: '' } as { -readonly [Name in keyof ServedHome]: ServedHome[Name] };
  let home: ReturnType<typeof makeHome>;
  beforeAll(async () => {
    served.provider = await startProvider((request, response) => {
      served.prompt = request.body.toString();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(wholeReply('openai-chat'));
    });
    home = makeHome({
      providers: { local: { wire: 'openai-chat', baseUrl: `${served.provider.url}/v1` } },
      models: { default: 'local/m', evolver: 'off', judge: 'off' },
      ...settings,
    });
    served.dir = home.dir;
    prepare(home.dir);
    served.daemon = await startDaemon(home.dir);
  });
  afterAll(async () => {
    served.daemon.child.kill('SIGTERM');
    await served.daemon.exited;
    await served.provider.close();
    home.remove();
  });
  return served;
}
