import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../base/log.ts';
import { relayLines } from './relay-lines.ts';

export interface EngineProcessOptions {
  /** The home folder. */
  readonly folder: string;
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Whether its output is only logged at debug level now. */
  readonly isQuiet: () => boolean;
  readonly onReady: () => void;
}

/** The environment variables it gets. No API key is among them. */
const ENVIRONMENT = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'TZ', 'SystemRoot'];

/** The built command, also when run from sources, as in tests: a process cannot read TypeScript. */
const MAIN = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? '../../../dist/cli/main.js' : '../../cli/main.js',
    import.meta.url,
  ),
);

/** Starts `instar engine up` on loopback. It exits with this process, however that ends: their IPC channel closes. */
export function startEngineProcess(options: EngineProcessOptions): ChildProcess {
  const { folder, port, env, log, isQuiet, onReady } = options;
  const child = spawn(process.execPath, [MAIN, 'engine', 'up', '--port', String(port), '--home', folder], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: Object.fromEntries(ENVIRONMENT.map((name) => [name, env[name]])),
    // Ctrl-C reaches every process of the terminal's group; this one must outlive its users, and we end it.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  if (child.stderr !== null) relayLines(child.stderr, 'engine', log, isQuiet);
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('instar engine ready ')) onReady();
    });
  return child;
}

/** How a process ended, as text, also when it could not be started. Resolves after its output was read. */
export const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(error.message);
    });
  });
