import { join } from 'node:path';
import { StoreError } from '../core/store.ts';
import { copyName, findCopyFault } from './copy-files.ts';
import { writeSnapshotFile } from './snapshots.ts';
import { connectReader } from './store/open-database.ts';
import { selectLastSeq } from './store/sqlite-tables.ts';

/** A copy to make. The store is only read. */
export interface CopyCall {
  readonly store: string;
  readonly dir: string;
  readonly at: number;
  readonly number: number;
}

/** Writes a copy, checks all of it, and only then gives it its name: a copy that is there was sound. Returns its name. */
export function makeCopy({ store, dir, at, number }: CopyCall): string {
  const sql = connectReader(store);
  try {
    // Counted before copying: the copy holds at least these.
    const name = copyName(at, number, selectLastSeq(sql));
    writeSnapshotFile(join(dir, name), (temporary) => {
      sql.run('vacuum into ?', temporary);
      const fault = findCopyFault(temporary);
      if (fault !== undefined) throw new StoreError('corrupt', `the copy of ${store} is damaged: ${fault}`);
    });
    return name;
  } finally {
    sql.close();
  }
}
