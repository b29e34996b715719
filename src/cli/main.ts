#!/usr/bin/env node
import { VERSION } from '../base/package.ts';
import type { CliContext } from './context.ts';
import { prepareNode } from './prepare-node.ts';
import { runProgram } from './program.ts';

// Loaded on demand: most commands do not need the gateway.
const startDaemon: CliContext['startDaemon'] = async (options) => {
  prepareNode(options.home);
  return (await import('../daemon/daemon.ts')).startDaemon(options);
};

// A reader that closes the pipe early, such as `head`, is not an error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const { stdin, stdout, stderr, env } = process;
const exitCode = await runProgram(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  env,
  version: VERSION,
  startDaemon,
});
// Flush both streams first: exiting would cut off a pipe that is still being read.
await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))));
process.exit(exitCode);
