import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import { type DoctorCheck, failed, passed, warned } from './doctor-check.ts';
import { errorCode, lookAt, quotePath } from './inspect-path.ts';

export const ownerKeyFile = (home: Home): string => join(home.dir, 'owner-key');

/** The caller key, the owner key and the salt of redaction. Reads them, and changes no mode. */
export const checkKeys = (home: Home, env: NodeJS.ProcessEnv): readonly DoctorCheck[] => [
  checkKey(home.keyFile, 'key', env.INSTAR_KEY, 'INSTAR_KEY'),
  ...checkOwnerKey(home, env),
  ...checkSalt(home),
];

const KEY = /^[\x21-\x7e]{32,512}$/;

function checkKey(file: string, name: string, given: string | undefined, variable: string): DoctorCheck {
  const value = given?.trim();
  const fix = `openssl rand -hex 32 > ${quotePath(file)} && chmod 600 ${quotePath(file)}`;
  if (value)
    return KEY.test(value)
      ? passed(name, `from ${variable}`)
      : failed(
          name,
          `${variable}: is not 32 to 512 printable characters`,
          `export ${variable}=$(openssl rand -hex 32)`,
        );
  const stats = lookAt(file);
  if (stats === undefined) return passed(name, `${file} will be created on first start`);
  if (typeof stats === 'string') return failed(name, `${file} ${stats}`, `rm ${quotePath(file)}`);
  try {
    if (KEY.test(readFileSync(file, 'utf8').trim())) return passed(name, file);
    return failed(name, `${file}: is not 32 to 512 printable characters`, fix);
  } catch (error) {
    return failed(name, `${file} cannot be read (${errorCode(error)})`, `chmod 600 ${quotePath(file)}`);
  }
}

function checkOwnerKey(home: Home, env: NodeJS.ProcessEnv): readonly DoctorCheck[] {
  const file = ownerKeyFile(home);
  const isUsed = env.INSTAR_OWNER_KEY !== undefined || lookAt(file) !== undefined;
  return isUsed ? [checkOwner(file, env)] : [];
}

/** A passphrase-protected key is not plain text: only whether the file can be read is checked. */
function checkOwner(file: string, env: NodeJS.ProcessEnv): DoctorCheck {
  if (env.INSTAR_OWNER_KEY) return passed('owner key', 'from INSTAR_OWNER_KEY');
  const stats = lookAt(file);
  if (stats === undefined || typeof stats === 'string')
    return failed('owner key', `${file} ${stats ?? 'is missing'}`, `rm ${quotePath(file)}`);
  try {
    const size = readFileSync(file).length;
    return size === 0
      ? failed('owner key', `${file} is empty`, `rm ${quotePath(file)}; a new one is created on start`)
      : passed('owner key', file);
  } catch (error) {
    return failed(
      'owner key',
      `${file} cannot be read (${errorCode(error)})`,
      `chmod 600 ${quotePath(file)}`,
    );
  }
}

function checkSalt({ saltFile, storeFile }: Home): readonly DoctorCheck[] {
  if (lookAt(storeFile) === undefined || lookAt(saltFile) !== undefined) return [];
  return [
    warned(
      'salt',
      `${saltFile} is missing: secrets redacted before and after have different marks`,
      'nothing is lost; a new one is created on start',
    ),
  ];
}
