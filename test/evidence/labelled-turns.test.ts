import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTurns } from '../../lab/measure/signals/read-turns.ts';
import { type LabelledTurn, scoreTurns, TURN_LABELS } from '../../lab/measure/signals/score-turns.ts';
import { appraise } from '../../src/evidence/appraise.ts';

const turnsOf = (half: string): readonly LabelledTurn[] =>
  readTurns(path.resolve(import.meta.dirname, `../../lab/measure/signals/turns-${half}.jsonl`));
const all = ['dev', 'test'].flatMap(turnsOf);

describe('the labelled turns', () => {
  it('are at least 170, with every label and every supported client', () => {
    expect(all.length).toBeGreaterThanOrEqual(170);
    expect(new Set(all.map(({ label }) => label))).toEqual(new Set(TURN_LABELS));
    const clients = new Set(all.map(({ client }) => client));
    for (const client of ['claude-code', 'codex', 'opencode', 'pi', 'openclaw', 'api'])
      expect(clients).toContain(client);
  });

  it.each(['dev', 'test'])(
    'of the %s half: precision ≥ 0.95, recall ≥ 0.85, and no outage is a failure',
    (half) => {
      const { precision, recall, taught } = scoreTurns(turnsOf(half), appraise);
      expect(precision.hits / precision.of).toBeGreaterThanOrEqual(0.95);
      expect(recall.hits / recall.of).toBeGreaterThanOrEqual(0.85);
      expect(taught.hits).toBe(0);
    },
  );
});
