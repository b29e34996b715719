/**
 * npm run bench:adapt [-- --events 1000000 --write]
 *
 * The adaptation engine beside a long history: a record of events is filled in steps; at each size, how long opening takes (the newest
 * 20,000 events), a run of the digest over 100 new events, and how much memory the window holds. The digest's time should follow what
 * is new, not what there is. Ratios are of one run on one machine.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PACKAGE_ROOT } from '../../../src/base/package.ts';
import { createRandom, type Random } from '../../../src/base/random.ts';
import { EVENT_KINDS } from '../../../src/core/adapt.ts';
import type { NewFact } from '../../../src/core/store.ts';
import { corroborate } from '../../../src/learn/adapt/corroborate.ts';
import {
  createRecordWindow,
  MOST_RECORDS,
  type RecordWindow,
} from '../../../src/learn/adapt/record-window.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { markdownTable, writeSection } from '../markdown.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    /** Writes the table into docs/performance.md instead of printing it. */
    write: { type: 'boolean', default: false },
  },
});
const events = Number(values.events);
const NEW = 100;
const ROUNDS = 50;
const BATCH = 5_000;
const AGENTS = 40;
const LABELS = 25;

const random = createRandom('bench/adapt');
const eventAt = (from: Random, nth: number): NewFact => ({
  at: 1_700_000_000_000 + nth * 1000,
  fact: {
    type: 'event-reported',
    kind: EVENT_KINDS[from.below(EVENT_KINDS.length)] ?? 'failed_tdd',
    agent: `agent-${from.below(AGENTS)}`,
    session: `s-${Math.floor(nth / 3)}`,
    data: { label: `place.${from.below(LABELS)}`, error: 'TimeoutError @ main.py:42', repair: ['npm ci'] },
    by: 'instar',
  },
});

const digest = (window: RecordWindow): number => {
  let drafts = 0;
  const taken = new Set<string>();
  while (window.hasNews)
    for (const draft of window.digest(taken)) {
      taken.add(draft.dedupeKey);
      corroborate(draft, window.alike(draft), { onePerSessionAndDay: true });
      drafts++;
    }
  return drafts;
};
const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1] ?? 0;
const heapMb = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
};

const dir = mkdtempSync(path.join(tmpdir(), 'instar-adapt-'));
const store = openSqliteStore({ file: path.join(dir, 'instar.sqlite') });
const rows: (readonly string[])[] = [];
let written = 0;
try {
  for (const size of [events / 100, events / 10, events]) {
    const since = performance.now();
    const had = written;
    while (written < size) {
      const facts = Array.from({ length: Math.min(BATCH, size - written) }, () => eventAt(random, written++));
      store.append({ facts, blocks: [] });
    }
    const fillMs = performance.now() - since;
    const opening = performance.now();
    let window: RecordWindow | undefined = createRecordWindow();
    for (const stored of store.newestOf('event-reported', MOST_RECORDS)) window.add(stored);
    const openMs = performance.now() - opening;
    const all = performance.now();
    const drafts = digest(window);
    const wholeMs = performance.now() - all;
    const rounds: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (let nth = 0; nth < NEW; nth++) {
        const { at, fact } = eventAt(random, size + round * NEW + nth);
        window.add({ seq: 10_000_000 + round * NEW + nth, at, fact });
      }
      const began = performance.now();
      digest(window);
      rounds.push(performance.now() - began);
    }
    const withIt = heapMb();
    window = undefined;
    const heldMb = withIt - heapMb();
    rows.push([
      size.toLocaleString('en'),
      `${openMs.toFixed(0)} ms`,
      `${wholeMs.toFixed(0)} ms (${drafts} drafts)`,
      `${median(rounds).toFixed(1)} ms`,
      `${heldMb.toFixed(0)} MB`,
      `${(statSync(path.join(dir, 'instar.sqlite')).size / 2 ** 20).toFixed(0)} MB`,
      `${(((written - had) / fillMs) * 1000).toFixed(0)}`,
    ]);
  }
} finally {
  store.close();
  rmSync(dir, { recursive: true, force: true });
}
const table = markdownTable(
  [
    'events in the record',
    'open: read the newest 20,000',
    'digest of all of these',
    `digest of ${NEW} new events`,
    'memory of the window',
    'the record',
    'events written a second',
  ],
  rows,
);
const text = `Measured with \`npm run bench:adapt\` (Node ${process.versions.node}); median of ${ROUNDS} runs.\n\n${table}`;
const file = path.join(fileURLToPath(PACKAGE_ROOT), 'docs/performance.md');
if (values.write) writeSection(file, 'bench:adapt', text);
else process.stdout.write(`${text}\n`);
