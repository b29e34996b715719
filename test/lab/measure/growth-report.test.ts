import { describe, expect, it } from 'vitest';
import { type GrowthResults, growthReport } from '../../../lab/measure/growth/growth-report.ts';
import type { HomeCost } from '../../../lab/measure/growth/measure-home.ts';

const cost = (turnCpu: number): HomeCost => ({
  readyMs: 900,
  readyCpu: 1500,
  settledMs: 2000,
  settledCpu: 3000,
  startMb: 150,
  restMb: 180,
  turns: 200,
  lost: 0,
  turnCpu,
  threads: { main: 4.2, writer: 1.1, learning: 3.3 },
  turnKb: 51,
  firstP50: 30,
  laterP50: 8,
  diskMb: 27,
  engines: { 'minilm-l6-v2/384': 40 },
});

const results: GrowthResults = {
  date: '2026-11-17',
  machine: '2 cores',
  command: 'npm run bench:growth',
  load: [1.2, 1.5],
  history: [],
  lessons: [
    { lessons: 10_000, inScope: 10_000, cost: cost(21) },
    { lessons: 10_000, inScope: 100, cost: cost(9) },
  ],
  sessions: [
    {
      subject: 'instar',
      turns: 1000,
      bytes: 1_000_000,
      turnCpu: 30,
      threads: { main: 12 },
      turnKb: 60,
      endCpu: 90,
      lost: 0,
    },
  ],
};

describe('the report of growth', () => {
  it('says what a turn costs for each size and scope, and what a kilobyte of a long conversation costs', () => {
    const text = growthReport(results);
    expect(text).toContain('| 10,000 | 10,000 | 21.0 | 4.2 | 1.1 | 3.3 |');
    expect(text).toContain('| 10,000 | 100 | 9.0 |');
    expect(text).toContain('| 1,000 | instar | 1000 | 30.0 | 30.0 | 12.0 |');
    expect(text).toContain('answered by minilm-l6-v2/384 (40)');
    expect(text).not.toContain('### Against history');
  });
});
