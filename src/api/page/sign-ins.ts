import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { replaceFileSync } from '../../base/atomic-file.ts';
import type { Log } from '../../base/log.ts';
import { asArray, asNumber, asObject, asString, parseJson } from '../../core/json.ts';

/** A browser that is signed in. Of its cookie and its word, the hashes; times by the wall clock. */
export interface SignIn {
  readonly token: string;
  readonly word: string;
  readonly issuedAt: number;
  readonly usedAt: number;
}

/** The browsers that are signed in, for the next start of the daemon. */
export interface SignIns {
  /** Those of this owner key. Empty when the file is missing, damaged or was written under another key. */
  read(): readonly SignIn[];
  write(all: readonly SignIn[]): void;
}

interface SignInsOptions {
  readonly file: string;
  /** The text of the owner key; undefined while it is protected: then nothing is kept. */
  readonly key: () => string | undefined;
  readonly log: Pick<Log, 'warn'>;
}

/**
 * A file of the home. Nobody can sign in with what is in it, and whoever can write it cannot add to it: the whole list is
 * authenticated under a key that is derived from the owner key, so that a new owner key ends every sign-in.
 */
export function openSignIns({ file, key, log }: SignInsOptions): SignIns {
  return {
    read: () => {
      const secret = key();
      if (secret === undefined) return [];
      const { mac, list } = asObject(parseJson(readText(file)));
      const text = asString(list) ?? '';
      if (!isSame(asString(mac) ?? '', macOf(secret, text))) return [];
      return asArray(parseJson(text)).map(asObject).flatMap(decode);
    },
    write: (all) => {
      const secret = key();
      try {
        if (secret === undefined || all.length === 0) rmSync(file, { force: true });
        else {
          const list = JSON.stringify(all);
          replaceFileSync(file, `${JSON.stringify({ mac: macOf(secret, list), list })}\n`);
        }
      } catch (error) {
        log.warn(
          { err: error },
          'who is signed in on the page cannot be kept: a restart signs everybody out',
        );
      }
    },
  };
}

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

const macOf = (secret: string, list: string): string => {
  const key = createHmac('sha256', secret).update('instar page sign-ins').digest();
  return createHmac('sha256', key).update(list).digest('base64url');
};

const isSame = (given: string, wanted: string): boolean =>
  given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted));

function decode(row: ReturnType<typeof asObject>): readonly SignIn[] {
  const [token, word] = [asString(row.token), asString(row.word)];
  const [issuedAt, usedAt] = [asNumber(row.issuedAt), asNumber(row.usedAt)];
  if (token === undefined || word === undefined || issuedAt === undefined || usedAt === undefined) return [];
  return [{ token, word, issuedAt, usedAt }];
}
