import { StoreError } from '../src/core/store.ts';
import { type DoctorCheck, failed, passed, warned } from '../src/doctor/doctor-check.ts';
import { localTime, plural } from '../src/text/phrases.ts';
import { inspectPg } from './postgres/inspect-pg.ts';
import { inspectSpool } from './spool/inspect-spool.ts';

/** Whether the record in PostgreSQL can be reached, is ours and is of a known version. Creates and changes nothing. */
export async function checkPostgres(url: string, spoolFile: string): Promise<readonly DoctorCheck[]> {
  return [...(await checkServer(url)), ...checkSpool(spoolFile)];
}

/** What waits in the home for the server. */
function checkSpool(file: string): readonly DoctorCheck[] {
  try {
    const { turns, bytes, since, damaged } = inspectSpool(file);
    const size = `${plural(turns, 'turn')} (${Math.ceil(bytes / 1_048_576)} MB)`;
    return [
      ...(since === undefined
        ? []
        : [
            warned(
              'spool',
              `${size} since ${localTime(since)} ${turns === 1 ? 'waits' : 'wait'} in this home for PostgreSQL`,
              'start the server: a running Instar writes them to it by itself, else: instar up',
              'spool-waits',
            ),
          ]),
      ...damaged.map((name) =>
        warned(
          'spool',
          `${name} could not be read and was put aside: the turns in it are not in the record`,
          `delete it, or ask for help with what is in it: ${name}`,
          'spool-damaged',
        ),
      ),
    ];
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return [failed('spool', error.message, `move it away: ${file}`, 'spool-unreadable')];
  }
}

async function checkServer(url: string): Promise<readonly DoctorCheck[]> {
  try {
    const { where, server, turns, bytes, unclean, isNew, isUnfinished } = await inspectPg(url);
    const place = `PostgreSQL ${server}, ${where}`;
    if (isNew) return [passed('store', `${place}: nothing is recorded yet`)];
    if (isUnfinished)
      return [
        failed(
          'store',
          `${place} has an unfinished copy of a record`,
          'finish it: instar store migrate URL',
          'store-unfinished',
        ),
      ];
    const size = `${place}: ${plural(turns, 'turn')}, ${Math.ceil(bytes / 1_048_576)} MB`;
    return [
      passed('store', size),
      ...(unclean.length === 0
        ? []
        : [
            warned(
              'store',
              `${plural(unclean.length, 'table')} still ${unclean.length === 1 ? 'has' : 'have'} erased text in free space: ${unclean.join(', ')}`,
              `when nobody uses it: ${unclean.map((name) => `vacuum full ${name};`).join(' ')}`,
              'store-unclean',
            ),
          ]),
    ];
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return [failed('store', error.message, fixOf(error), `store-${error.code}`)];
  }
}

const fixOf = ({ code }: StoreError): string =>
  code === 'away'
    ? 'start the server, or correct the host and the port in store.url'
    : code === 'newer'
      ? 'npm install -g instar@latest'
      : 'do what it says, then: instar doctor';
