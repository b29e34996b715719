import {
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { DaemonRecord } from '../config/daemon-file.ts';
import type { Home } from '../config/home.ts';
import { StoreError } from '../core/store.ts';
import { schemaFaultOf } from '../record/store/check-schema.ts';
import { inspectStore, type StoreInspection } from '../record/store/inspect-store.ts';
import { findLostRecord, readStoreMark, storeMarkFile } from '../record/store-mark.ts';
import { localTime, plural } from '../text/phrases.ts';
import { type DoctorCheck, failed, passed, warned } from './doctor-check.ts';
import { errorCode, isForeign, lookAt, quotePath, writeFault } from './inspect-path.ts';

/**
 * Whether the record is there, is ours, is whole and can be written. A store that is missing or empty is only right in a
 * home that never had one. `daemon`: the one that serves this home now. Creates and changes nothing.
 */
export function checkStore(home: Home, daemon: DaemonRecord | undefined): readonly DoctorCheck[] {
  const { storeFile: file } = home;
  const stats = lookAt(file);
  if (typeof stats === 'string') return [checkDangling(home, stats)];
  const links = checkLink(file);
  if (stats === undefined) return checkMissing(home, daemon);
  const fault = findFileFault(home, stats);
  if (fault !== undefined) return [...links, fault];
  return [...links, ...checkContent(home), ...checkWritable(file), ...checkHandle(file, daemon)];
}

/** The command that brings the record back. */
function restoreFix({ snapshotDir, storeFile }: Home): string {
  const [newest] = copiesIn(snapshotDir);
  const stop = 'stop Instar, then: ';
  if (newest !== undefined) return `${stop}instar data restore ${quotePath(newest)}`;
  const aside = `${storeFile}.damaged`;
  return `no daily copy exists; ${stop}instar data restore FILE with a backup of yours, or mv ${quotePath(storeFile)} ${quotePath(aside)} to start a new record`;
}

/** Newest first. */
function copiesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.sqlite'))
      .map((name) => join(folder, name))
      .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  } catch {
    return [];
  }
}

function checkDangling(home: Home, what: string): DoctorCheck {
  const link = lstatSync(home.storeFile, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (!link)
    return failed(
      'store',
      `${home.storeFile} ${what}`,
      `chmod u+rw ${quotePath(home.storeFile)}`,
      'store-unreadable',
    );
  const target = resolve(dirname(home.storeFile), readlinkSync(home.storeFile));
  const fix = `mount or bring back ${target}; or rm ${quotePath(home.storeFile)}, then: ${restoreFix(home)}`;
  return failed(
    'store',
    `${home.storeFile} is a link to ${target}, which does not exist: nothing can be recorded`,
    fix,
    'store-dangling',
  );
}

function checkLink(file: string): readonly DoctorCheck[] {
  if (!(lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false)) return [];
  const target = resolve(dirname(file), readlinkSync(file));
  const what = `${file} is a link to ${target}: the lock of this home does not protect that file from another daemon`;
  return [
    warned(
      'store',
      what,
      `rm ${quotePath(file)} && mv ${quotePath(target)} ${quotePath(file)}`,
      'store-link',
    ),
  ];
}

/** What a home keeps that had a record. */
function tracesOf(home: Home): readonly string[] {
  const mark = readStoreMark(home.storeFile);
  const copies = copiesIn(home.snapshotDir).length;
  return [
    ...(mark !== undefined && mark.facts > 0
      ? [`${plural(mark.turns, 'turn')} on ${localTime(mark.at)}`]
      : []),
    ...(copies > 0 ? [`${copies} daily ${copies === 1 ? 'copy' : 'copies'}`] : []),
    ...(lookAt(home.saltFile) === undefined ? [] : ['the salt of its redaction']),
    ...(lookAt(home.vectorFile) === undefined ? [] : ['embedded lessons']),
  ];
}

function checkMissing(home: Home, daemon: DaemonRecord | undefined): readonly DoctorCheck[] {
  if (daemon !== undefined) {
    const what = `${home.storeFile} was deleted while the daemon (pid ${daemon.pid}) has it open`;
    const fix = 'leave the daemon running: it writes the record back within seconds; then: instar doctor';
    return [failed('store', what, fix, 'store-deleted')];
  }
  const traces = tracesOf(home);
  if (traces.length === 0) return [passed('store', 'nothing is recorded yet')];
  const [newest] = copiesIn(home.snapshotDir);
  const fix =
    newest === undefined
      ? `instar data restore FILE with a backup of yours; a new, empty record is created on start (rm ${quotePath(storeMarkFile(home.storeFile))} accepts that)`
      : restoreFix(home);
  return [
    failed(
      'store',
      `${home.storeFile} is missing, but this home had a record: it has ${traces.join(', ')}`,
      fix,
      'store-deleted',
    ),
  ];
}

const MAGIC = 'SQLite format 3\0';
const LOG_MAGIC = [0x377f0682, 0x377f0683];

/** Whatever is wrong with the file itself, before SQLite is asked. */
function findFileFault(home: Home, stats: Stats): DoctorCheck | undefined {
  const { storeFile: file } = home;
  const fix = restoreFix(home);
  if (!stats.isFile())
    return failed(
      'store',
      `${file} is not a file`,
      `mv ${quotePath(file)} ${quotePath(`${file}.old`)}`,
      'store-not-a-file',
    );
  if (isForeign(stats))
    return failed(
      'store',
      `${file} belongs to user ${stats.uid}, not to you`,
      `sudo chown "$USER" ${quotePath(file)}`,
      'store-foreign-owner',
    );
  if (stats.size === 0) {
    const had = tracesOf(home);
    const what = had.length === 0 ? '' : `, but this home had a record: it has ${had.join(', ')}`;
    return failed(
      'store',
      `${file} is empty (0 bytes)${what}`,
      had.length === 0 ? `rm ${quotePath(file)}; a new one is created on start` : fix,
      'store-emptied',
    );
  }
  try {
    const head = readHead(file, 32);
    if (head.toString('latin1', 0, 16) !== MAGIC)
      return failed('store', `${file} is not a database`, fix, 'store-not-a-database');
    const log = lookAt(`${file}-wal`);
    if (log === undefined) return findTruncation(file, head, stats, fix);
    return findLogFault(`${file}-wal`, log);
  } catch (error) {
    return failed(
      'store',
      `${file} cannot be read (${errorCode(error)})`,
      `chmod u+rw ${quotePath(file)}`,
      'store-unreadable',
    );
  }
}

/** The header has the size of a page and, without a log, the number of pages. */
function findTruncation(file: string, head: Buffer, { size }: Stats, fix: string): DoctorCheck | undefined {
  const field = head.readUInt16BE(16);
  const expected = (field === 1 ? 65_536 : field) * head.readUInt32BE(28);
  if (size >= expected) return undefined;
  return failed('store', `${file} is truncated: it has ${size} of ${expected} bytes`, fix, 'store-truncated');
}

function findLogFault(log: string, stats: Stats | string): DoctorCheck | undefined {
  const fix = `stop Instar, then: mv ${quotePath(log)} ${quotePath(`${log}.foreign`)}`;
  if (typeof stats === 'string' || !stats.isFile() || lstatSync(log).isSymbolicLink())
    return failed('store', `${log} is not the write-ahead log of the store`, fix, 'store-foreign-log');
  if (isForeign(stats))
    return failed(
      'store',
      `${log} belongs to user ${stats.uid}, not to you`,
      `sudo chown "$USER" ${quotePath(log)}`,
      'store-foreign-log',
    );
  if (stats.size < 32 || LOG_MAGIC.includes(readHead(log, 4).readUInt32BE(0))) return undefined;
  return failed(
    'store',
    `${log} is not a write-ahead log: what was recorded last is lost`,
    fix,
    'store-foreign-log',
  );
}

function readHead(file: string, length: number): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const head = Buffer.alloc(length);
    readSync(descriptor, head, 0, length, 0);
    return head;
  } finally {
    closeSync(descriptor);
  }
}

const brokenTrail = (fault: string, home: Home): DoctorCheck =>
  failed(
    'audit',
    `the audit trail is broken: ${fault}`,
    `something else wrote to the store; compare \`instar team keys audit\` with a copy, and ${restoreFix(home)}`,
    'audit-broken',
  );

const MOST_NAMED = 5;

function checkContent(home: Home): readonly DoctorCheck[] {
  const { storeFile: file } = home;
  try {
    const now = inspectStore(file, true);
    const lost = findLost(home, now);
    if (now.findings.length > 0)
      return [failed('store', describeDamage(now), restoreFix(home), 'store-damaged'), ...lost];
    const size = `${plural(now.turns, 'turn')} in ${plural(now.sessions, 'session')}, ${(now.bytes / 1048576).toFixed(1)} MB`;
    const broken = now.auditFault === undefined ? [] : [brokenTrail(now.auditFault, home)];
    return lost.length > 0 ? [...lost, ...broken] : [passed('store', size), ...broken];
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.code === 'newer')
      return [failed('store', error.message, 'npm install -g instar@latest', 'store-newer')];
    if (error.code === 'locked')
      return [warned('store', error.message, 'try again, or see which program has it open', 'store-locked')];
    const altered = schemaFaultOf(error);
    if (altered !== undefined)
      return [failed('store', error.message, removalFix(home, altered.removal), 'store-altered')];
    if (/is not an Instar store/.test(error.message))
      return [
        failed('store', `${error.message}: it belongs to another program`, restoreFix(home), 'store-foreign'),
      ];
    if (/has an older format/.test(error.message))
      return [warned('store', error.message, 'instar up', 'store-older')];
    return [failed('store', error.message, restoreFix(home), 'store-damaged')];
  }
}

/** A trigger of the user's own is removed without a loss; what it has done already is not undone. */
const removalFix = (home: Home, removal: string | undefined): string =>
  removal === undefined
    ? restoreFix(home)
    : `if you added it yourself: stop Instar, then: sqlite3 ${quotePath(home.storeFile)} '${removal}'; else ${restoreFix(home)}`;

function describeDamage({ findings, damaged }: StoreInspection): string {
  const rows = findings.length === 1 ? '1 damaged row' : `${findings.length} damaged rows`;
  const rest = damaged.length > MOST_NAMED ? ` and ${damaged.length - MOST_NAMED} more` : '';
  const where =
    damaged.length === 0
      ? ''
      : ` in ${damaged.length === 1 ? 'session' : 'sessions'} ${damaged.slice(0, MOST_NAMED).join(', ')}${rest}`;
  return `${rows}${where}; the first: ${findings[0]}`;
}

/** A sound store can still be the wrong one: a new empty one in place of the record, or an old state of it. */
function findLost(home: Home, now: StoreInspection): readonly DoctorCheck[] {
  const accept = `; to keep it as it is: rm ${quotePath(storeMarkFile(home.storeFile))}`;
  const lost = findLostRecord(readStoreMark(home.storeFile), now);
  if (lost !== undefined)
    return [failed('store', `${home.storeFile}: ${lost}`, `${restoreFix(home)}${accept}`, 'store-replaced')];
  const [newest] = copiesIn(home.snapshotDir);
  if (newest === undefined || readStoreMark(home.storeFile) !== undefined) return [];
  try {
    const copy = inspectStore(newest, false);
    if (copy.facts <= now.facts && (copy.firstAt === now.firstAt || copy.facts === 0)) return [];
    const what = `it has ${plural(now.turns, 'turn')}, but the daily copy ${newest} has ${copy.turns}`;
    return [failed('store', `${home.storeFile}: ${what}`, restoreFix(home), 'store-replaced')];
  } catch (error) {
    // Whether copies are sound is another check.
    if (error instanceof StoreError) return [];
    throw error;
  }
}

/** SQLite writes its log beside the file, or beside the file that a link leads to. */
function checkWritable(file: string): readonly DoctorCheck[] {
  const target = lstatSync(file).isSymbolicLink() ? resolve(dirname(file), readlinkSync(file)) : file;
  const stats = statSync(target);
  const isReadOnly = process.platform !== 'win32' && (stats.mode & 0o200) === 0 && process.getuid?.() !== 0;
  const fault = isReadOnly ? 'EACCES' : target === file ? undefined : writeFault(dirname(target));
  if (fault === undefined) return [];
  return [
    failed(
      'store',
      `${target} cannot be written (${fault}): nothing is recorded`,
      `chmod u+rw ${quotePath(target)}`,
      'store-unwritable',
    ),
  ];
}

/** Whether the running daemon writes into this file, or into one that was deleted under it. */
function checkHandle(file: string, daemon: DaemonRecord | undefined): readonly DoctorCheck[] {
  if (daemon === undefined || process.platform !== 'linux') return [];
  const folder = `/proc/${daemon.pid}/fd`;
  try {
    const { dev, ino } = statSync(file);
    const handles = readdirSync(folder).flatMap((name) => {
      const handle = join(folder, name);
      try {
        return readlinkSync(handle).replace(/ \(deleted\)$/, '') === file ? [statSync(handle)] : [];
      } catch {
        // Closed since it was listed.
        return [];
      }
    });
    if (handles.length === 0 || handles.some((one) => one.dev === dev && one.ino === ino)) return [];
    return [
      failed(
        'store',
        `the daemon (pid ${daemon.pid}) writes into a file that was deleted; ${file} is another one`,
        'leave the daemon running: with the next request it keeps its record beside this file; then: instar doctor',
        'store-detached',
      ),
    ];
  } catch {
    // Another user's daemon, or it ended meanwhile.
    return [];
  }
}
