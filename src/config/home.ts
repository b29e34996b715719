import { mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { ConfigError } from './config-error.ts';

/** The folder that holds everything Instar keeps on this machine. */
export interface Home {
  readonly dir: string;
  readonly configFile: string;
  readonly keyFile: string;
  readonly daemonFile: string;
  readonly storeFile: string;
  /** Held by the daemon for as long as it lives. */
  readonly lockFile: string;
  readonly saltFile: string;
  readonly snapshotDir: string;
  /** Skills as files, for people to read and edit. */
  readonly skillsDir: string;
  /** What lessons mean, as numbers: worked out once. */
  readonly vectorFile: string;
  /** System prompts that were made shorter. */
  readonly promptsDir: string;
}

/** What `--home` says, else `INSTAR_HOME`, else `~/.instar`. */
export const homeDir = (given: string | undefined, env: NodeJS.ProcessEnv): string =>
  given || env.INSTAR_HOME || join(homedir(), '.instar');

/** The paths of a home, whether or not it exists; touches nothing. */
export function homeAt(dir: string): Home {
  const root = resolve(dir);
  return {
    dir: root,
    configFile: join(root, 'config.json'),
    keyFile: join(root, 'key'),
    daemonFile: join(root, 'daemon.json'),
    storeFile: join(root, 'instar.sqlite'),
    lockFile: join(root, 'lock.sqlite'),
    saltFile: join(root, 'salt'),
    snapshotDir: join(root, 'snapshots'),
    skillsDir: join(root, 'skills'),
    vectorFile: join(root, 'vectors.bin'),
    promptsDir: join(root, 'prompts'),
  };
}

/**
 * A home that can be used, made if it is missing. Throws `ConfigError` for one that others could write to: what
 * lies in it is trusted.
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
          what: code === 'ENOTDIR' ? 'lies below a file' : `cannot be made (${code ?? 'unknown error'})`,
          mend: 'choose another home with --home or INSTAR_HOME',
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
        mend: 'choose another home with --home or INSTAR_HOME',
      },
    ]);
  }
  if (process.platform !== 'win32' && (stats.mode & 0o022) !== 0) {
    throw new ConfigError([
      { path: home.dir, what: 'can be written to by others', mend: `chmod 700 ${home.dir}` },
    ]);
  }
  return home;
}

/** Another daemon serves this home; it is named in the home's record. */
export class HomeInUseError extends Error {
  override readonly name = 'HomeTakenError';
}
