import { mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { ConfigError } from './config-error.ts';

/** The folder with all of Instar's files. */
export interface Home {
  readonly dir: string;
  readonly configFile: string;
  /** The first caller key. */
  readonly keyFile: string;
  /** The owner key; never in a client's settings. */
  readonly ownerKeyFile: string;
  /** The hashes of all keys. */
  readonly keysFile: string;
  /** Settings that the owner has confirmed. */
  readonly confirmedFile: string;
  readonly daemonFile: string;
  /** The browsers that are signed in on the page. */
  readonly signInsFile: string;
  readonly storeFile: string;
  /** What waits for a database that is away. */
  readonly spoolFile: string;
  /** Locked by the daemon while it runs. */
  readonly lockFile: string;
  readonly saltFile: string;
  /** Alerts that wait for their receiver, and which were told. */
  readonly alertsFile: string;
  /** Which project the clones of a repository are. */
  readonly projectsFile: string;
  /** The id of this home among those that share a record. */
  readonly gatewayFile: string;
  readonly snapshotDir: string;
  /** What the clocks showed when the daemon last looked. */
  readonly clockFile: string;
  /** Skills as files, for people to read and edit. */
  readonly skillsDir: string;
  /** Who each agent is, as files: a folder for each agent. */
  readonly identityDir: string;
  /** Cached embeddings of lessons. */
  readonly vectorFile: string;
  /** What recall computes of lessons; hashes alone. */
  readonly indexFile: string;
  /** Shortened system prompts. */
  readonly promptsDir: string;
  /** The newest log lines of the daemon; older ones are in the files beside it. */
  readonly logFile: string;
}

/** `--home`, else `INSTAR_HOME`, else `~/.instar`. */
export const homeDir = (given: string | undefined, env: NodeJS.ProcessEnv): string =>
  given || env.INSTAR_HOME || join(homedir(), '.instar');

/** The paths of a home, whether or not it exists; touches nothing. */
export function homeAt(dir: string): Home {
  const root = resolve(dir);
  return {
    dir: root,
    configFile: join(root, 'config.json'),
    keyFile: join(root, 'key'),
    ownerKeyFile: join(root, 'owner-key'),
    keysFile: join(root, 'keys.json'),
    confirmedFile: join(root, 'confirmed.json'),
    daemonFile: join(root, 'daemon.json'),
    signInsFile: join(root, 'sign-ins.json'),
    storeFile: join(root, 'instar.sqlite'),
    spoolFile: join(root, 'spool.sqlite'),
    lockFile: join(root, 'lock.sqlite'),
    saltFile: join(root, 'salt'),
    alertsFile: join(root, 'alerts.json'),
    projectsFile: join(root, 'projects.json'),
    gatewayFile: join(root, 'gateway-id'),
    snapshotDir: join(root, 'snapshots'),
    clockFile: join(root, 'clock.json'),
    skillsDir: join(root, 'skills'),
    identityDir: join(root, 'identity'),
    vectorFile: join(root, 'vectors.bin'),
    indexFile: join(root, 'index.bin'),
    promptsDir: join(root, 'prompts'),
    logFile: join(root, 'logs', 'instar.log'),
  };
}

/**
 * Opens a home, and creates it if it is missing. Throws `ConfigError` for one that others can write to: its files are
 * trusted.
 */
export function openHome(dir: string): Home {
  const home = homeAt(dir);
  try {
    mkdirSync(home.dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') {
      throw new ConfigError([
        {
          path: home.dir,
          what: code === 'ENOTDIR' ? 'is below a file' : `cannot be created (${code ?? 'unknown error'})`,
          fix: 'choose another home with --home or INSTAR_HOME',
        },
      ]);
    }
  }
  const stats = statSync(home.dir);
  if (!stats.isDirectory()) {
    throw new ConfigError([
      {
        path: home.dir,
        what: 'is a file, not a folder',
        fix: 'choose another home with --home or INSTAR_HOME',
      },
    ]);
  }
  if (process.platform !== 'win32' && (stats.mode & 0o022) !== 0) {
    throw new ConfigError([{ path: home.dir, what: 'is writable by others', fix: `chmod 700 ${home.dir}` }]);
  }
  return home;
}

/** Another process uses this home; the message names it. */
export class HomeInUseError extends Error {
  override readonly name = 'HomeInUseError';
}
