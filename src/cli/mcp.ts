import type { Readable, Writable } from 'node:stream';
import { askApi } from '../api/remote-api.ts';
import { VERSION } from '../base/package.ts';
import { findDaemon, isAlive } from '../config/daemon-file.ts';
import { type Home, homeAt } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import { createRemoteEpisodeApi } from '../mcp/remote-episode-api.ts';
import { serveOnStdio } from '../mcp/serve-on-stdio.ts';
import { type CommandContext, type DeclareCommand, EXIT, type ExitCode } from './context.ts';

export const declareMcp: DeclareCommand = (command, act) =>
  void command.addHelpText('after', '\nExample:\n  $ claude mcp add instar -- instar mcp\n').action(act(mcp));

/** Standard output carries the protocol; errors go to standard error. */
async function mcp(_options: object, context: CommandContext): Promise<ExitCode> {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  await serveMcp({
    home: homeAt(context.homeDir),
    env: context.env,
    input: process.stdin,
    output: process.stdout,
    signal: stop.signal,
    report: (error) => void context.stderr.write(`instar mcp: ${error.message}\n`),
  });
  return EXIT.ok;
}

interface McpOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
  readonly report: (error: Error) => void;
}

/** Serves Instar's tools to one MCP client; the home's daemon answers them. */
function serveMcp({ home, env, ...streams }: McpOptions): Promise<void> {
  const api = createRemoteEpisodeApi(async (method, path, body) => {
    const daemon = await findDaemon(home);
    if (daemon === undefined || !isAlive(daemon)) throw new Error('Instar is not running');
    return askApi({ url: daemon.url, key: readKey(home, env)?.key }, method, path, body);
  });
  return serveOnStdio({ api, version: VERSION }, streams);
}
