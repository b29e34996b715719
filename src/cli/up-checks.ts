import { createServer } from 'node:net';
import { findDaemon, readDaemonFile, removeDaemonFile } from '../config/daemon-file.ts';
import { findDaemonProcess } from '../config/daemon-process.ts';
import type { Home } from '../config/home.ts';
import { keyFileOf, readProviderKey } from '../config/provider-entry.ts';
import type { Config } from '../config/schema.ts';
import { asObject, parseJson } from '../core/json.ts';
import { quotePath } from '../doctor/inspect-path.ts';
import { CommandError, EXIT, failure } from './context.ts';
import { openUrl } from './foreground.ts';

/** One line for every key that the config names and that cannot be found. */
export function describeMissingKeys(
  { providers, train: { engine, serve } }: Pick<Config, 'providers' | 'train'>,
  { env, home }: { readonly env: NodeJS.ProcessEnv; readonly home: Home },
): readonly string[] {
  const isSet = (name: string): boolean => (env[name]?.trim() ?? '') !== '';
  const ofProviders = Object.entries(providers).flatMap(([name, entry]) => {
    const file = keyFileOf(entry, home.dir);
    if (entry.keyEnv === undefined && file === undefined) return [];
    if (readProviderKey(entry, { env, homeDir: home.dir }) !== undefined) return [];
    const effect = `provider "${name}" gets requests without a key and will refuse them`;
    return entry.keyEnv === undefined
      ? [`${file} is missing or empty: ${effect}. Fix: write its key into that file`]
      : [
          `${entry.keyEnv} is not set: ${effect}. Fix: export ${entry.keyEnv}=… and start again, or name a keyFile for it in the config`,
        ];
  });
  const ofTraining = [
    { keyEnv: typeof engine === 'string' ? undefined : engine.keyEnv, what: 'the training engine' },
    { keyEnv: serve?.keyEnv, what: 'the server of trained weights' },
  ].flatMap(({ keyEnv, what }) =>
    keyEnv === undefined || isSet(keyEnv)
      ? []
      : [`${keyEnv} is not set: ${what} will refuse requests. Fix: export ${keyEnv}=… and start again`],
  );
  return [...ofProviders, ...ofTraining];
}

/**
 * Throws when a daemon has this home. The record of a daemon that ended without a clean stop is removed where it can be;
 * the lines that are returned say so.
 */
export async function refuseSecondDaemon(home: Home, isWritable = true): Promise<readonly string[]> {
  const seen = readDaemonFile(home);
  const other = await findDaemon(home);
  const at = `--home ${quotePath(home.dir)}`;
  if (other !== undefined)
    throw new CommandError(
      EXIT.homeTaken,
      `another Instar serves ${home.dir}: ${other.url} (pid ${other.pid})`,
      `use that one, stop it (instar stop ${at}), or choose another home with --home`,
    );
  if (seen !== undefined && (await findDaemonProcess(home, seen)) === 'ours')
    throw new CommandError(
      EXIT.homeTaken,
      `another Instar has ${home.dir} and does not answer (pid ${seen.pid}): it is stopping, or it hangs`,
      `try again in a moment, or end it: instar stop --force ${at}`,
    );
  if (!isWritable) return [];
  removeDaemonFile(home, seen);
  if (seen === undefined) return [];
  return [
    `the last Instar (pid ${seen.pid}) ended without a clean stop; its record ${home.daemonFile} was removed`,
  ];
}

/** Throws when another program has the port: asked before anything is opened or started. */
export async function refuseTakenPort(address: {
  readonly host: string;
  readonly port: number;
}): Promise<void> {
  const { host, port } = address;
  if (port === 0) return;
  const isTaken = await new Promise<boolean>((resolve) => {
    const server = createServer()
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EADDRINUSE'))
      .listen({ host, port, exclusive: true }, () => server.close(() => resolve(false)));
  });
  if (isTaken) throw await nameProgramOnPort(address);
}

const PROBE_MS = 1_000;

/** Why the port cannot be used, in one line, with the program that has it where that is another Instar. */
export async function nameProgramOnPort(address: {
  readonly host: string;
  readonly port: number;
}): Promise<CommandError> {
  const { host, port } = address;
  const other = (await isInstarAt(host, port))
    ? 'another Instar, with another home (end it with: instar stop --home ITS_HOME)'
    : 'another program';
  return failure(
    `port ${port} is taken by ${other}; choose another port with --port, or any free one: instar up --port 0`,
  );
}

async function isInstarAt(host: string, port: number): Promise<boolean> {
  try {
    const name =
      host === '0.0.0.0' ? '127.0.0.1' : host.includes(':') ? `[${host === '::' ? '::1' : host}]` : host;
    const url = `http://${name}:${port}/healthz`;
    const reply = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(PROBE_MS) });
    const text = (await reply.text()).slice(0, 200);
    return reply.status === 200 && asObject(parseJson(text)).ok === true;
  } catch {
    return false;
  }
}

/** Opens the page in the browser; `url` is undefined for a build without one. */
export function openPage(url: string | undefined, warn: (message: string) => void): void {
  if (url === undefined) warn('--open: this build of Instar has no page; "instar status" shows what it does');
  else
    openUrl(url, (message) =>
      warn(`--open: cannot open a browser (${message}): run instar page for an address`),
    );
}

/** For a command that needs the home for itself. */
export async function refuseWhileRunning(home: Home): Promise<void> {
  const running = await findDaemon(home);
  if (running === undefined) return;
  const message = `Instar is running: ${running.url} (pid ${running.pid})`;
  throw new CommandError(EXIT.homeTaken, message, 'stop it first: instar stop');
}
