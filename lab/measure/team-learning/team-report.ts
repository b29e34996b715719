import { pairedBootstrap } from '../../../src/stats/paired-bootstrap.ts';
import { markdownTable, quantile } from '../markdown.ts';
import type { PlayedTeam, TeamArm } from './play-team.ts';

/** One seed, in all arms. */
export interface PlayedSeed {
  readonly seed: number;
  readonly arms: readonly { readonly arm: TeamArm; readonly played: PlayedTeam }[];
}

/** The arms by their place in every seed. */
export const TEAM_ARMS: readonly TeamArm[] = [
  { name: 'three alone (all have opted out)', shares: false, byHand: false, holdout: 0 },
  { name: 'a team, an owner shares each evening', shares: true, byHand: true, holdout: 0 },
  { name: 'a team, nobody shares by hand (hold-out 0.1)', shares: true, byHand: false, holdout: 0.1 },
];
const [ALONE, BY_HAND, BY_ITSELF] = [0, 1, 2];

/** Days on which the share is told; the last day as well. */
const TOLD_DAYS = [1, 2, 3, 5, 10];

/** Tables and sentences over all seeds. */
export function reportTeams(seeds: readonly PlayedSeed[], days: number): string {
  const of = (arm: number): readonly PlayedTeam[] =>
    seeds.flatMap(({ arms }) => arms.slice(arm, arm + 1).map(({ played }) => played));
  const sum = (arm: number, count: (one: PlayedTeam) => number): number =>
    of(arm).reduce((all, one) => all + count(one), 0);
  const told = [...new Set([...TOLD_DAYS.filter((day) => day < days), days])];
  const shareOn = (arm: number, day: number): string =>
    `${((100 * sum(arm, ({ obeyed }) => obeyed[day - 1] ?? 0)) / sum(arm, ({ probes }) => probes)).toFixed(0)} %`;
  /** A team that never obeyed all counts as one day more than there were. */
  const dayOf = ({ allObey }: PlayedTeam): number => allObey ?? days + 1;
  const dayText = (day: number): string => (day > days ? `> ${days}` : String(day));
  const places = TEAM_ARMS.map((_, arm) => arm);
  const compare = (name: string, scale: number, value: (one: PlayedTeam) => number): string => {
    const hand = of(BY_HAND ?? 0);
    const pairs = of(ALONE ?? 0).map((one, at) => {
      const other = hand[at];
      return {
        block: String(seeds[at]?.seed),
        a: other === undefined ? 0 : value(other) / scale,
        b: value(one) / scale,
      };
    });
    const { mean = 0, interval, isShown } = pairedBootstrap(pairs, { seed: `team-learning/${name}` });
    const signed = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(share * scale).toFixed(1)}`;
    const range = interval === undefined ? '' : ` (${signed(interval.low)} to ${signed(interval.high)})`;
    return `${name} ${signed(mean)}${range}, ${isShown ? 'shown' : 'not shown to differ (too few seeds with a difference, whatever the interval says)'}`;
  };
  const meanShare = ({ obeyed, probes }: PlayedTeam): number =>
    (100 * obeyed.reduce((all, kept) => all + kept, 0)) / (probes * obeyed.length);
  const most = Math.max(1, ...places.flatMap((arm) => of(arm).map(({ corrections }) => corrections)));
  const itself = of(BY_ITSELF ?? 0);
  const movedText = itself.flatMap(({ firstMove }) => firstMove ?? []).join(', ');
  const perRule = itself.reduce((all, one) => all + one.lessonsPerRule, 0) / Math.max(1, itself.length);
  return [
    markdownTable(
      ['', 'all obey, day (by seed)', 'median', ...told.map((day) => `obeyed, day ${day}`), 'corrections'],
      places.map((arm) => [
        TEAM_ARMS[arm]?.name ?? '',
        of(arm).map(dayOf).map(dayText).join(', '),
        dayText(quantile(of(arm).map(dayOf), 0.5)),
        ...told.map((day) => shareOn(arm, day)),
        (sum(arm, ({ corrections }) => corrections) / Math.max(1, seeds.length)).toFixed(1),
      ]),
    ),
    '',
    `The owner’s team minus three alone, by seed, with 95 % intervals (paired bootstrap; a team that never obeyed all counts as day ${days + 1}, so that its delay is understated): ${[
      compare('days until all obey', days + 1, dayOf),
      compare('points of obeyed measurements over all days', 100, meanShare),
      compare('corrections that people said', most, ({ corrections }) => corrections),
    ].join('; ')}.`,
    '',
    `Leaks: of ${sumAll(seeds, ({ prompts }) => prompts).toLocaleString('en')} prompts ${sumAll(seeds, ({ leakedRules }) => leakedRules)} had words that another member said about a rule of their own (${sumAll(seeds, ({ ownRules }) => ownRules).toLocaleString('en')} had the asker’s own such words), and ${sumAll(seeds, ({ foreignLessons }) => foreignLessons)} had a lesson that was neither the asker’s nor the team’s. Of ${sumAll(seeds, ({ corrections }) => corrections)} corrections ${sumAll(seeds, ({ unlearned }) => unlearned)} were in no lesson within ten seconds.`,
    '',
    `The move without a person: ${sum(BY_ITSELF ?? 0, ({ movedAlone }) => movedAlone)} lessons in ${itself.length} seeds of ${days} days${movedText === '' ? '' : ` (first on day ${movedText})`}; the owner moved ${sum(BY_HAND ?? 0, ({ movedByHand }) => movedByHand)}. The most scored sessions that one private lesson had at the end: ${Math.max(0, ...itself.map(({ mostScored }) => mostScored))}, of them at most ${Math.max(0, ...itself.map(({ mostWithheld }) => mostWithheld))} without it. A member had ${perRule.toFixed(1)} lessons in use for a rule that was met.`,
  ].join('\n');
}

const sumAll = (seeds: readonly PlayedSeed[], count: (one: PlayedTeam) => number): number =>
  seeds.flatMap(({ arms }) => arms).reduce((all, { played }) => all + count(played), 0);
