import { serveMcp } from '../app/serve-mcp.ts';
import { homeAt } from '../config/home.ts';
import { EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';

/** Standard output belongs to the protocol; what is wrong is said on standard error. */
export async function mcp(_options: object, context: CommandContext): Promise<ExitCode> {
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
