import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Log } from '../log.ts';
import { relayLines } from './relay-lines.ts';

export interface EngineProcessOptions {
  /** The home. */
  readonly folder: string;
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Whether what it says is of no interest now. */
  readonly isQuiet: () => boolean;
  readonly onReady: () => void;
}

/** What a process needs to find its way. No key of anyone is among it. */
const ENVIRONMENT = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'TZ', 'SystemRoot'];

/** The built command. Run from sources, as tests are, it is the same one: a process cannot read TypeScript. */
const MAIN = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? '../../../dist/cli/main.js' : '../../cli/main.js',
    import.meta.url,
  ),
);

/** `instar engine up` on loopback. It ends when this process does, however that ends: the channel between them closes. */
export function startEngineProcess(options: EngineProcessOptions): ChildProcess {
  const { folder, port, env, log, isQuiet, onReady } = options;
  const child = spawn(process.execPath, [MAIN, 'engine', 'up', '--port', String(port), '--home', folder], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: Object.fromEntries(ENVIRONMENT.map((name) => [name, env[name]])),
    // Ctrl-C goes to every process of a terminal's group; this one is ended by us, after those who use it.
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

/** How a process ended, in words; also of one that could not be started. Its last words have been read by then. */
export const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(error.message);
    });
  });
