import { startTinkerServer } from '../../../../train/nano/server/start-tinker-server.ts';
import { createBigramEngine } from './bigram-engine.ts';

/** The name of this file once it is bundled to JavaScript, to run as a process that can be killed. */
export const PROGRAM = 'bigram-server.mjs';

/** `bigram-server.mjs <folder> <port> <delayMs> <key>` */
async function serve([folder = '', port = '0', delayMs = '0', key = '']: readonly string[]): Promise<void> {
  const server = await startTinkerServer({
    engine: createBigramEngine({ delayMs: Number(delayMs) }),
    folder,
    port: Number(port),
    limits: { snapshotSteps: 3, pollMs: 1000 },
    log: (line) => process.stderr.write(`${line}\n`),
    key,
  });
  process.stdout.write(`ready ${server.url}\n`);
  process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));
}

if (process.argv[1]?.endsWith(PROGRAM) === true) await serve(process.argv.slice(2));
