import { formatTurnBodyKey, type NewFact } from '../../../src/core/store.ts';
import { readPgUrl } from '../../../src/record/pg-place.ts';
import { NOTICE_CHANNEL } from '../../../team/postgres/log-notice.ts';
import { openPgPool } from '../../../team/postgres/pg-connection.ts';
import { openPgStore } from '../../../team/postgres/pg-store.ts';
import { createText } from '../gateway/traffic.ts';
import { quantile } from '../markdown.ts';

/** How much several writers record together, as fast as they can, without gateways in between. */
export interface CommitsRow {
  readonly writers: number;
  /** Turns in one commit. */
  readonly group: number;
  /** Other connections that hear of every commit. */
  readonly listeners: number;
  readonly commitsPerSecond: number;
  readonly turnsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
}

const BODY_BYTES = 800;

export async function measureCommits(
  url: string,
  shape: Pick<CommitsRow, 'writers' | 'group' | 'listeners'>,
  ms: number,
): Promise<CommitsRow> {
  const { writers, group, listeners } = shape;
  const stores = await Promise.all(Array.from({ length: writers }, () => openPgStore({ url })));
  const pools = Array.from({ length: listeners }, () => openPgPool(readPgUrl(url), { most: 1 }));
  for (const pool of pools) {
    const [channel] = await pool.all<{ name: string }>(`select ${NOTICE_CHANNEL} as name`);
    await pool.exec(`listen "${channel?.name}"`);
  }
  const words = createText(writers * 1000 + group);
  const times: number[] = [];
  const end = performance.now() + ms;
  let made = 0;
  const write = async (store: (typeof stores)[number], writer: number): Promise<void> => {
    while (performance.now() < end) {
      const turns = Array.from({ length: group }, () => `t_${shape.listeners}_${writer}_${made++}`);
      const session = `s_${shape.listeners}_${writer}_${Math.floor(made / 20)}`;
      const begun = performance.now();
      await store.append({
        facts: turns.flatMap((turn) => turnFacts(turn, session)),
        blocks: turns.flatMap((turn) =>
          (['request', 'reply'] as const).map((part) => ({
            hash: formatTurnBodyKey({ turn, part }),
            text: words(BODY_BYTES),
            session,
          })),
        ),
      });
      times.push(performance.now() - begun);
    }
  };
  const startedAt = performance.now();
  try {
    await Promise.all(stores.map(write));
    const seconds = (performance.now() - startedAt) / 1000;
    return {
      ...shape,
      commitsPerSecond: times.length / seconds,
      turnsPerSecond: (times.length * group) / seconds,
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
    };
  } finally {
    await Promise.all([...stores, ...pools].map((one) => one.close()));
  }
}

function turnFacts(turn: string, session: string): readonly NewFact[] {
  const at = Date.now();
  return [
    {
      at,
      fact: {
        type: 'turn-start',
        turn,
        session,
        agent: 'bench',
        role: 'main',
        wire: 'anthropic',
        model: 'm',
        generation: 1,
        policy: 'bench/m',
        lessons: [],
        request: formatTurnBodyKey({ turn, part: 'request' }),
      },
    },
    {
      at,
      fact: {
        type: 'turn-end',
        turn,
        status: 'complete',
        httpStatus: 200,
        totalMs: 900,
        reply: formatTurnBodyKey({ turn, part: 'reply' }),
      },
    },
  ];
}
