import { join } from 'node:path';
import { toAsyncStore } from '../../../src/record/store/async-store.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { scratch } from '../../record/store/scratch.ts';
import { describeRecollections } from './recollect-contract.ts';

describeRecollections('memory', () => {
  const store = toAsyncStore(createMemoryStore());
  return async () => store;
});
describeRecollections('SQLite', () => {
  const store = toAsyncStore(openSqliteStore({ file: join(scratch(), 'store.db') }));
  return async () => store;
});
