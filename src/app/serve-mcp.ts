import type { Readable, Writable } from 'node:stream';
import type { Home } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import { serveOnStdio } from '../mcp/serve-on-stdio.ts';
import { askApi } from './ask-api.ts';
import { createRemoteEpisodes } from './episodes/remote-episodes.ts';
import { findDaemon, isAlive } from './find-daemon.ts';
import { VERSION } from './version.ts';

export interface McpOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
  readonly report: (error: Error) => void;
}

/** Instar's tools for one MCP client on standard input and output, answered by the daemon of the home. */
export function serveMcp({ home, env, ...streams }: McpOptions): Promise<void> {
  const desk = createRemoteEpisodes(async (method, path, body) => {
    const daemon = await findDaemon(home);
    if (daemon === undefined || !isAlive(daemon)) throw new Error('Instar is not running');
    return askApi(daemon, readKey(home, env)?.key, method, path, body);
  });
  return serveOnStdio({ desk, version: VERSION }, streams);
}
