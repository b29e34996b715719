import { createRequire } from 'node:module';
import { insideAddon } from './sqlite-gate.ts';

type Sqlite = typeof import('@photostructure/sqlite');

export type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';

/** The addon. A thread that is ended while it loads the addon would abort the process, too: hence not an `import`. */
export const { DatabaseSync }: Sqlite = insideAddon(
  () => createRequire(import.meta.url)('@photostructure/sqlite') as Sqlite,
);
