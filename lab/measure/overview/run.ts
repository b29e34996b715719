import { writeOverview } from './write-overview.ts';

/** Draws the table at the top of docs/performance.md again, without measuring. */
writeOverview();
