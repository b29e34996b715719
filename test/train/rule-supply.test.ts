import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../src/config/check-config.ts';
import { systemClock } from '../../src/core/clock.ts';
import { asArray, asObject } from '../../src/core/json.ts';
import type { Lesson } from '../../src/core/lesson.ts';
import { readStoredTurn } from '../../src/record/stored-turn.ts';
import { DEFAULT_PROMOTION } from '../../train/promotion.ts';
import { openPromotionLog } from '../../train/promotion-log.ts';
import { createRecordedTasks } from '../../train/recorded-tasks.ts';
import { withTrainingSupply } from '../../train/training-supply.ts';
import { windowSize } from '../../train/window-size.ts';
import { findWindowSupply } from '../../train/window-supply.ts';
import { answer, isoRule, NOW, record } from './recorded-sessions.ts';

const SESSIONS = Array.from({ length: 12 }, (_, at) => ({
  session: `s${at}`,
  says: `When did parcel ${at} leave?`,
  reply: answer(at % 2 === 0 ? 'It left on 2026-11-17.' : 'It left on 17 Nov 2026.'),
}));

/** What `train status` and `train run` say in a home with these rules and no verifier. */
async function tell(rules: readonly Lesson[]) {
  const records = await record(SESSIONS);
  const { config } = checkConfig({ train: { engine: 'nano' } }, { env: {} });
  const lessons = () => rules;
  const now = () => NOW;
  const parts = { config, configFile: '/nowhere', records, lessons, schedule: async () => ({}), now };
  const { supply } = await withTrainingSupply(async () => ({}), parts)();
  const { recorded, missing } = asObject(supply);
  const settings = { ...DEFAULT_PROMOTION, effect: config.train.effect };
  const run = await findWindowSupply({
    tasks: undefined,
    settings: { live: false, size: windowSize(config.train.amount, true) },
    recorded: createRecordedTasks({
      rows: [],
      lessons,
      records,
      decodeTurn: (turn) => readStoredTurn(turn, records, new Map()),
      now,
    }),
    folder: '/nowhere',
    generation: () => 1,
    readLive: async () => [],
    promotions: () => openPromotionLog({ engine: 'nano', records, clock: systemClock, settings }),
    gateTasks: async () => 0,
    signal: new AbortController().signal,
  });
  return { recorded: asObject(recorded), missing: asArray(missing).map(asObject), run };
}

describe('a home without a verifier', () => {
  it('has tasks to train on once a rule of its person has a check, and status and run say the same numbers', async () => {
    const { recorded, run } = await tell([isoRule('iso')]);
    expect(recorded).toMatchObject({ canGrade: true, rules: 1 });
    expect(recorded.says).toMatch(
      /^12 tasks, graded by 1 of your rules \(\d+ to train on, \d+ held out\); about \d+ must be held out$/,
    );
    expect(run.is === 'unmeasurable' ? run.why : String(run.is === 'nothing' && run.fault)).toContain(
      String(recorded.says),
    );
  });

  it('is told to tell a rule first and to set a verifier second while nothing grades', async () => {
    const { recorded, missing, run } = await tell([]);
    expect(recorded.canGrade).toBe(false);
    expect(missing.map(({ fix }) => fix)).toContainEqual(
      expect.stringMatching(/^tell a rule.*learn\.verifiers$/),
    );
    expect(run).toMatchObject({ is: 'nothing', fault: { code: 'no-tasks' } });
  });
});
