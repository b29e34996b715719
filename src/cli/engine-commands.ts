import { type Command, InvalidArgumentError } from 'commander';
import { parsePort } from './parse-port.ts';
import type { Act } from './record-commands.ts';

/** The commands about the embedded training engine. */
export function addEngineCommands(program: Command, act: Act): void {
  const engine = program.command('engine').description('The embedded training engine, by itself.');
  engine
    .command('up')
    .description('Serve the embedded policy on Tinker’s routes, in the foreground.')
    .option('--port <n>', 'port to listen on; 0 picks a free one (default: 4601)', parsePort)
    .option('--host <address>', 'address to listen on; beyond loopback Instar’s key is needed', parseHost)
    .addHelpText('after', '\nExample:\n  $ instar engine up --port 4700\n')
    .action(act(async () => (await import('./engine.ts')).engineUp));
}

function parseHost(text: string): string {
  // An empty one would mean every address.
  if (text.trim() === '') throw new InvalidArgumentError('Give an address such as 127.0.0.1.');
  return text.trim();
}
