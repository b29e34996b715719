import type { Config } from '../config/schema.ts';

/** The gateway, as a client is told of it. */
export interface Connection {
  /** `http://127.0.0.1:4600`, no path. */
  readonly url: string;
  /** Instar's key, or words that stand for it where it should not be shown. */
  readonly key: string;
  readonly keyFile: string;
  readonly config: Config;
  /** The model a person asked for. */
  readonly model?: string;
  /** The gateway listens beyond this machine: then even a caller with credentials of its own must show the key. */
  readonly isOpenToOthers: boolean;
}

/** Where a client's files are. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  /** The person's home folder. */
  readonly homeDir: string;
  /** A file's text; undefined when there is none. */
  readonly read: (file: string) => string | undefined;
}

/** Header for a gateway that wants its key beside the caller's own credentials. */
export const separateKey = ({ isOpenToOthers, key }: Connection): Readonly<Record<string, string>> =>
  isOpenToOthers ? { 'x-instar-key': key } : {};
