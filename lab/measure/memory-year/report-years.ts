import { wilsonInterval } from '../../../src/stats/interval.ts';
import { markdownTable, milliseconds, quantile } from '../markdown.ts';
import type { ProbeCount, SimulatedYear } from './simulate-year.ts';

interface YearPair {
  readonly with: SimulatedYear;
  readonly without: SimulatedYear;
}

const sum = (list: readonly number[]): number => list.reduce((all, one) => all + one, 0);
const range = (list: readonly number[]): string =>
  Math.min(...list) === Math.max(...list)
    ? String(list[0])
    : `${Math.round(sum(list) / list.length)} (${Math.min(...list)} to ${Math.max(...list)})`;

/** `0.93 [0.91, 0.95] (412 of 443)`. */
function share(hits: number, all: number): string {
  if (all === 0) return 'none';
  const { low, high } = wilsonInterval(hits, all);
  return `${(hits / all).toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}] (${hits} of ${all})`;
}

/** The page `lab/results/memory-year.md`. */
export function reportYears(
  years: readonly YearPair[],
  {
    sessions,
    mostInUse,
    engine,
  }: { readonly sessions: number; readonly mostInUse: number; readonly engine: string },
): string {
  const each = (of: (year: SimulatedYear) => number, arm: keyof YearPair = 'with'): readonly number[] =>
    years.map((year) => of(year[arm]));
  const total = (of: (year: SimulatedYear) => number, arm: keyof YearPair = 'with'): number =>
    sum(each(of, arm));
  const probe = (key: keyof SimulatedYear['probes'], what: keyof ProbeCount, arm: keyof YearPair): string =>
    share(
      total(({ probes }) => probes[key][what], arm),
      total(({ probes }) => probes[key].asked, arm),
    );
  const months = Array.from({ length: 12 }, (_, month) => {
    const [from, to] = [month, month + 1].map((at) => Math.round((at * 52) / 12));
    const at = (year: SimulatedYear) => year.weeks[(to ?? 1) - 1];
    const times = years.flatMap((year) => year.with.weeks.slice(from, to).map(({ run }) => run));
    return [
      String(month + 1),
      range(each((year) => at(year)?.sessions ?? 0)),
      range(each((year) => at(year)?.inUse ?? 0)),
      range(each((year) => at(year)?.archived ?? 0)),
      range(each((year) => at(year)?.inUse ?? 0, 'without')),
      `${milliseconds(
        quantile(
          times.map(({ ms }) => ms),
          0.5,
        ),
      )}, ${milliseconds(Math.max(...times.map(({ ms }) => ms)))} ms`,
      `${milliseconds(Math.max(...times.map(({ setMs }) => setMs)))} ms`,
    ];
  });
  return [
    `## Room for ${mostInUse.toLocaleString('en')} lessons in use`,
    '',
    `\`npm run bench:memory-year -- --most-in-use ${mostInUse} --write\`: ${years.length} seeds, ${sessions.toLocaleString('en')} sessions each, lessons compared by ${engine}.`,
    '',
    markdownTable(
      [
        'month',
        'sessions',
        'lessons in use',
        'archived',
        'in use without consolidation',
        'processor time of a run: median, longest',
        'longest change set',
      ],
      months,
    ),
    '',
    markdownTable(
      ['', 'with consolidation', 'without'],
      [
        [
          'rules of topics still worked on: recalled',
          probe('current', 'hit', 'with'),
          probe('current', 'hit', 'without'),
        ],
        [
          'the same: an outdated rule is shown, too',
          probe('current', 'outdated', 'with'),
          probe('current', 'outdated', 'without'),
        ],
        [
          'topics left half a year ago and taken up again: recalled at the first request about the topic',
          probe('first', 'hit', 'with'),
          probe('first', 'hit', 'without'),
        ],
        [
          'the same: at later requests about it',
          probe('later', 'hit', 'with'),
          probe('later', 'hit', 'without'),
        ],
        [
          'the same, of rules that the person told: a question gets them quoted, the newest last',
          share(
            total(({ said }) => said.hit),
            total(({ said }) => said.asked),
          ),
          '',
        ],
        [
          'messages that can be searched, and their index in the record',
          `${range(each(({ said }) => said.messages))}, ${range(each(({ said }) => Math.round(said.bytes / 1e6)))} MB`,
          '',
        ],
        [
          'contradictions found (recall)',
          share(
            total(({ contradictions }) => contradictions.found),
            total(({ contradictions }) => contradictions.planted),
          ),
          '',
        ],
        [
          'reported contradictions that are true (precision)',
          share(
            total(({ contradictions }) => contradictions.right),
            total(({ contradictions }) => contradictions.reported),
          ),
          '',
        ],
        [
          'the person’s older words out of use',
          share(
            total(({ updates }) => updates.settled),
            total(({ updates }) => updates.all),
          ),
          share(
            total(({ updates }) => updates.settled, 'without'),
            total(({ updates }) => updates.all, 'without'),
          ),
        ],
        [
          'lessons merged, of repetitions planted',
          `${total(({ duplicates }) => duplicates.merged)} of ${total(({ duplicates }) => duplicates.planted)}`,
          '0',
        ],
        [
          'pinned or proven lessons lost',
          `${total(({ kept }) => kept.lost)} of ${total(({ kept }) => kept.all)}`,
          '',
        ],
      ],
    ),
  ].join('\n');
}
