import { describe, expect, it } from 'vitest';
import type { Lesson } from '../../../src/core/lesson.ts';
import type { NewFact } from '../../../src/core/store.ts';
import { learningRecordOf } from '../../../src/learn/adapt/learning-records.ts';
import { observeSession } from '../../../src/learn/adapt/observe-session.ts';
import { writeLesson } from '../../lessons/shown/small-library.ts';
import { type Round, ran, turnsOf } from '../live/worked-session.ts';

const DAY = 86_400_000;
const MISSING = (line: number, file = 'load.py'): string =>
  `Traceback (most recent call last):\n  File "/srv/app/${file}", line ${line}, in <module>\nModuleNotFoundError: No module named 'yaml'\n1 failed in 0.31s\n`;
const edited = (file: string, before: string, after: string): Round => ({
  tool: 'Edit',
  input: { file_path: `/srv/app/${file}`, old_string: before, new_string: after },
  result: `The file /srv/app/${file} has been updated.`,
});

interface Seen {
  readonly rounds: readonly Round[];
  readonly ended?: readonly NewFact[];
  readonly shown?: readonly string[];
  readonly lessons?: readonly Lesson[];
  readonly lastUse?: number;
  readonly session?: string;
}

const observe = ({ rounds, ended = [], shown, lessons = [], lastUse, session = 's1' }: Seen) =>
  observeSession(
    {
      session,
      view: { agent: 'lead/coder', runKind: 'fix' },
      turns: turnsOf('load the settings', rounds, shown),
      ended,
    },
    { lessonOf: (id) => lessons.find((one) => one.id === id), lastUse: () => lastUse },
    1000 * DAY,
  ).map(({ fact, key }, n) => {
    if (fact.type !== 'event-reported') throw new Error('no event');
    return { ...fact, key, label: learningRecordOf({ seq: n + 1, at: 0, fact })?.sourceLabel };
  });
const kinds = (seen: Seen) => observe(seen).map(({ kind }) => kind);

describe('a session with a failing check', () => {
  it('tells the repair when the check passed afterwards: its own successful calls, not what only looked or failed', () => {
    const [heal, ...others] = observe({
      rounds: [
        ran('pytest tests/test_load.py', 1, MISSING(42)),
        ran('cat pyproject.toml', 0, 'dependencies = []'),
        ran('pip install yaml', 1, 'ERROR: No matching distribution found for yaml'),
        ran('pip install pyyaml', 0, 'Successfully installed pyyaml'),
        edited('load.py', 'import yaml', 'import yaml  # pyyaml'),
        ran('pytest', 0, '8 passed in 0.31s'),
      ],
    });
    expect(heal).toMatchObject({
      kind: 'successful_heal',
      by: 'instar',
      agent: 'lead/coder',
      runKind: 'fix',
      session: 's1',
      label: expect.stringMatching(/^error\.[0-9a-f]{16}$/),
      data: {
        leader: 'lead',
        error: 'ModuleNotFoundError @ load.py:42',
        repair: ['pip install pyyaml', 'in load.py: import yaml → import yaml # pyyaml'],
        turns: ['t0', 't3', 't4', 't5'],
      },
    });
    expect(others.map(({ kind }) => kind)).toEqual(['agent_error']);
    expect(JSON.stringify([heal, ...others])).not.toContain('distribution found for');
  });

  it('tells that it never passed, with the label under which the repair of another session is told', () => {
    const [failed] = observe({ rounds: [ran('pytest', 1, MISSING(7))], session: 's2' });
    const [heal] = observe({
      rounds: [ran('pytest', 1, MISSING(42)), ran('uv sync', 0), ran('pytest', 0, '8 passed in 0.31s')],
    });
    expect(failed).toMatchObject({ kind: 'failed_tdd', data: { error: 'ModuleNotFoundError @ load.py:7' } });
    expect(heal?.kind).toBe('successful_heal');
    expect(failed?.label).toBe(heal?.label);
    const [other] = observe({ rounds: [ran('pytest', 1, MISSING(7, 'store.py'))] });
    expect(other?.label).not.toBe(heal?.label);
  });

  it('counts another check as no proof, and a check that passes unchanged as no repair', () => {
    expect(
      kinds({ rounds: [ran('pytest', 1, MISSING(1)), ran('uv sync', 0), ran('ruff check', 0)] }),
    ).toEqual(['failed_tdd']);
    expect(kinds({ rounds: [ran('pytest', 1, MISSING(1)), ran('pytest', 0, '8 passed in 0.3s')] })).toEqual(
      [],
    );
  });

  it('tells a command that was put right as a repair (not: as a check that never passed), and no other check', () => {
    const unknown = "error: unknown option '--prodd'\n(Did you mean --prod?)\n";
    const [heal] = observe({
      rounds: [
        ran('npm run build -- --prodd out', 2, unknown),
        ran('npm run build -- --prod out', 0, 'built'),
      ],
    });
    expect(heal).toMatchObject({
      kind: 'successful_heal',
      data: { repair: ['npm run build -- --prod out'], turns: ['t0', 't1'] },
    });
    const missing = ran('npm run build:all', 1, 'npm error Missing script: "build:all"\n');
    expect(kinds({ rounds: [missing, ran('npm run build', 0, 'built')] })).not.toContain('failed_tdd');
    expect(kinds({ rounds: [missing, ran('npm run lint', 0, 'ok')] })).toContain('failed_tdd');
  });

  it('proposes nothing where no error is named, and leaves commands with a secret out', () => {
    const [vague] = observe({ rounds: [ran('npm test', 1, 'Tests: 2 failed, 3 passed, 5 total')] });
    expect(vague).toMatchObject({ kind: 'failed_tdd', score: 50, label: 'failed_tdd' });
    const [heal] = observe({
      rounds: [
        ran('pytest', 1, MISSING(1)),
        ran('curl -H "token: [[secret:ab12cd34]]" example.org/setup', 0, 'ok'),
        ran('uv sync --token [[secret:ab12cd34]]', 0),
        ran('uv sync', 0),
        ran('pytest', 0, '8 passed in 0.3s'),
      ],
    });
    expect(heal?.data.repair).toEqual(['uv sync']);
  });
});

it('tells that an error came up three times, and not that it did twice', () => {
  const run = (n: number) => ran('pytest', 1, MISSING(n));
  const fix = edited('load.py', 'a', 'b');
  expect(kinds({ rounds: [run(1), fix, run(2), fix, run(3)] })).toEqual(['failed_tdd', 'repeated_retry']);
  expect(kinds({ rounds: [run(1), fix, run(2)] })).toEqual(['failed_tdd']);
});

describe('the lessons of a session', () => {
  const scored = (more: object): readonly NewFact[] => [
    {
      at: 0,
      fact: { type: 'session-scored', session: 's1', score: 0.9, lessons: ['l1'], heldOut: [], ...more },
    },
  ];
  const rounds = [{ says: 'Done.', user: 'Thanks, great.' }];

  it('are applied guidance when it went well, noisy when the user said otherwise, neither when it went badly', () => {
    expect(observe({ rounds, ended: scored({}) })).toMatchObject([
      { kind: 'guidance_applied', data: { lessons: ['l1'], went: 0.9 } },
    ]);
    expect(observe({ rounds, ended: scored({ contradicted: ['l1'] }) })).toMatchObject([
      { kind: 'guidance_noisy', data: { lesson: 'l1', why: 'contradicted' } },
    ]);
    expect(kinds({ rounds, ended: scored({ score: 0.3 }) })).toEqual([]);
  });

  it('are stale after three half-lives without a use, not before and not while they are pinned', () => {
    const lesson = { ...writeLesson('l1', 'tests-first', 'Run them.'), changedAt: 1000 * DAY - 91 * DAY };
    expect(kinds({ rounds, shown: ['l1'], lessons: [lesson] })).toEqual(['stale_guidance']);
    expect(kinds({ rounds, shown: ['l1'], lessons: [{ ...lesson, pinned: true }] })).toEqual([]);
    expect(kinds({ rounds, shown: ['l1'], lessons: [lesson], lastUse: 1000 * DAY - 89 * DAY })).toEqual([]);
  });
});

it('gives at most twenty events, and the same session the same keys', () => {
  const rounds = Array.from({ length: 60 }, (_, n) =>
    n % 2 === 0 ? ran('pytest', 1, MISSING(n, `f${n % 20}.py`)) : ran(`tool-${n} --go`, 2, `usage: bad ${n}`),
  );
  const seen = observe({ rounds });
  expect(seen.length).toBeGreaterThan(8);
  expect(seen.length).toBeLessThanOrEqual(20);
  expect(new Set(seen.map(({ key }) => key)).size).toBe(seen.length);
  expect(observe({ rounds }).map(({ key }) => key)).toEqual(seen.map(({ key }) => key));
});
