import { readFileSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { engineKeyFile } from '../config/engine-key.ts';
import type { Home } from '../config/home.ts';
import { type DoctorCheck, failed, passed, warned } from './doctor-check.ts';
import { errorCode, isForeign, isOpen, lookAt, quotePath, writeFault } from './inspect-path.ts';

const LOW_SPACE = 200 * 1024 * 1024;
const NO_SPACE = 16 * 1024 * 1024;
const FEW_INODES = 1_000;

/** The home, its folders and files: there, ours, private, writable; the keys; the disk. Creates and changes nothing. */
export function checkHome(home: Home, env: NodeJS.ProcessEnv): readonly DoctorCheck[] {
  const folder = checkHomeFolder(home.dir);
  if (folder.status === 'fail' && folder.id !== 'home-open' && folder.id !== 'home-unwritable')
    return [folder];
  return [
    folder,
    ...[
      home.skillsDir,
      home.snapshotDir,
      home.promptsDir,
      dirname(home.logFile),
      join(home.dir, 'engine'),
      join(home.dir, 'train'),
    ].flatMap(checkSubfolder),
    ...privateFiles(home).flatMap(checkFile),
    ...checkKeys(home, env),
    ...checkDisk(home.dir),
  ];
}

const privateFiles = (home: Home): readonly string[] => [
  home.configFile,
  home.daemonFile,
  home.storeFile,
  `${home.storeFile}-wal`,
  `${home.storeFile}-shm`,
  home.spoolFile,
  `${home.spoolFile}-wal`,
  home.saltFile,
  home.vectorFile,
  home.indexFile,
  home.lockFile,
  home.logFile,
  home.keyFile,
  ownerKeyFile(home),
  engineKeyFile(home.dir),
];

function checkHomeFolder(dir: string): DoctorCheck {
  const stats = lookAt(dir);
  const elsewhere = 'choose another home with --home or INSTAR_HOME';
  if (typeof stats === 'string') return failed('home', `${dir} ${stats}`, elsewhere, 'home-unreadable');
  if (stats === undefined) return checkCreatable(dir, elsewhere);
  if (!stats.isDirectory()) return failed('home', `${dir} is a file, not a folder`, elsewhere, 'home-file');
  if (isForeign(stats))
    return failed(
      'home',
      `${dir} belongs to user ${stats.uid}, not to you`,
      `sudo chown -R "$USER" ${quotePath(dir)}`,
      'home-foreign',
    );
  const chmod = `chmod 700 ${quotePath(dir)}`;
  if (isOpen(stats, 0o022)) return failed('home', `${dir} is writable by others`, chmod, 'home-open');
  const fault = writeFault(dir);
  if (fault !== undefined)
    return failed(
      'home',
      `no file can be created in ${dir} (${fault}): nothing is recorded or learned`,
      fixFor(fault, dir),
      'home-unwritable',
    );
  if (isOpen(stats, 0o077)) return warned('home', `${dir} is readable by others`, chmod, 'home-open');
  return passed('home', dir);
}

/** A home that does not exist yet: its nearest folder must let us create it. */
function checkCreatable(dir: string, fix: string): DoctorCheck {
  let above = dirname(dir);
  while (lookAt(above) === undefined && above !== dirname(above)) above = dirname(above);
  const stats = lookAt(above);
  const fault =
    typeof stats === 'string' ? stats : stats?.isDirectory() === true ? writeFault(above) : 'not a folder';
  return fault === undefined
    ? passed('home', `${dir} will be created on first start`)
    : failed(
        'home',
        `${dir} does not exist and cannot be created in ${above} (${fault})`,
        fix,
        'home-uncreatable',
      );
}

function checkSubfolder(dir: string): readonly DoctorCheck[] {
  const stats = lookAt(dir);
  if (stats === undefined) return [];
  if (typeof stats === 'string')
    return [failed('folders', `${dir} ${stats}`, `rm ${quotePath(dir)}`, 'folder-dangling')];
  if (!stats.isDirectory())
    return [
      failed(
        'folders',
        `${dir} is not a folder`,
        `mv ${quotePath(dir)} ${quotePath(`${dir}.old`)}`,
        'folder-file',
      ),
    ];
  const fault = writeFault(dir);
  if (fault !== undefined)
    return [
      failed(
        'folders',
        `no file can be created in ${dir} (${fault})`,
        fixFor(fault, dir),
        'folder-unwritable',
      ),
    ];
  if (isOpen(stats, 0o022))
    return [
      failed(
        'folders',
        `${dir} is writable by others, who could change what agents are told`,
        `chmod 700 ${quotePath(dir)}`,
        'folder-open',
      ),
    ];
  return [];
}

function checkFile(file: string): readonly DoctorCheck[] {
  const stats = lookAt(file);
  if (stats === undefined || typeof stats === 'string') return [];
  if (isForeign(stats))
    return [
      warned(
        'file modes',
        `${file} belongs to user ${stats.uid}, not to you`,
        `sudo chown "$USER" ${quotePath(file)}`,
        'file-foreign',
      ),
    ];
  if (!isOpen(stats, 0o077)) return [];
  return [warned('file modes', `${file} is readable by others`, `chmod 600 ${quotePath(file)}`, 'file-open')];
}

function checkDisk(dir: string): readonly DoctorCheck[] {
  let above = dir;
  while (lookAt(above) === undefined && above !== dirname(above)) above = dirname(above);
  try {
    const { bavail, bsize, ffree, files } = statfsSync(above);
    const free = bavail * bsize;
    const text =
      free < 1073741824
        ? `${(free / 1048576).toFixed(0)} MB free`
        : `${(free / 1073741824).toFixed(1)} GB free`;
    const fix = `free some space: on a full disk turns are served but not recorded (du -sh ${quotePath(dir)})`;
    if (free < NO_SPACE) return [failed('disk', text, fix, 'disk-full')];
    if (free < LOW_SPACE) return [warned('disk', text, fix, 'disk-low')];
    if (files > 0 && ffree < FEW_INODES)
      return [
        warned(
          'disk',
          `${ffree} free inodes: no more files can be created soon`,
          'delete files on this disk',
          'disk-inodes',
        ),
      ];
    return [passed('disk', text)];
  } catch (error) {
    return [warned('disk', `the free space is unknown (${errorCode(error)})`, `df ${quotePath(above)}`)];
  }
}

function fixFor(fault: string, dir: string): string {
  if (fault === 'EROFS')
    return 'the file system is read-only: mount it writable, or choose another home with --home';
  if (fault === 'ENOSPC' || fault === 'EDQUOT') return `free some space (df ${quotePath(dir)})`;
  if (fault === 'EPERM')
    return `lsattr -d ${quotePath(dir)}; if it shows "i": sudo chattr -i ${quotePath(dir)}`;
  return `chmod u+rwx ${quotePath(dir)}, or choose another home with --home`;
}

const ownerKeyFile = (home: Home): string => join(home.dir, 'owner-key');

/** The caller key, the owner key and the salt of redaction. Reads them, and changes no mode. */
const checkKeys = (home: Home, env: NodeJS.ProcessEnv): readonly DoctorCheck[] => [
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
