import { useCallback, useMemo } from 'preact/hooks';
import { plural } from '../../../src/text/phrases.ts';
import type { BeforeAfter, Facets, Growth, GrowthMark, MeasuredPart } from '../lib/api-shapes.ts';
import { noonOf, spanOf } from '../lib/days.ts';
import { percent, shortDay, signed, spanWords, toMs } from '../lib/format.ts';
import { type PooledDays, poolDays } from '../lib/pool-days.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo, type Query, setQuery, type ViewRoute } from '../lib/route.ts';
import { Chart, type ChartLine } from '../parts/chart.tsx';
import { CountLink } from '../parts/count-link.tsx';
import { Filter } from '../parts/filter.tsx';
import { IntervalBar } from '../parts/interval-bar.tsx';
import { Empty, Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { Text } from '../parts/text.tsx';
import { When } from '../parts/time.tsx';
import { Section, View } from '../parts/view.tsx';

/** Success and reward over time, with the generations and policies that changed in between. */
export function GrowthView({ route }: ViewRoute) {
  const { agent, project, split, days = '90' } = route.query;
  const facets = useResource<Facets>('/api/page/facets').value;
  const growth = useResource<Growth>('/api/page/growth', {
    query: { days, agent, project, split, offset: -new Date().getTimezoneOffset() },
    on: ['scored', 'library', 'policy'],
  });
  const change = (more: Readonly<Record<string, string | undefined>>): void =>
    setQuery({ ...route.query, ...more });
  return (
    <View
      title="Growth"
      lead="How the agents' work went, day by day. A success is a turn whose outcome was verified, judged or rated; a reward goes from −1 to 1. Bands are 95 % intervals."
    >
      <div class="filters">
        <Filter
          label="Agent"
          value={agent}
          options={(facets?.agents ?? []).map(({ name }) => [name, name])}
          onChange={(value) => change({ agent: value })}
        />
        <Filter
          label="Project"
          value={project}
          options={(facets?.projects ?? []).map(({ id, label }) => [id, label])}
          onChange={(value) => change({ project: value })}
        />
        <fieldset class="tabs" aria-label="Days">
          {['30', '90', '365'].map((number) => (
            <a
              key={number}
              href={linkTo(['growth'], { ...route.query, days: number })}
              aria-current={days === number ? 'true' : undefined}
            >
              {number} days
            </a>
          ))}
        </fieldset>
      </div>
      <Loaded of={growth}>
        {(value) =>
          value.total.turns === 0 ? (
            <Empty title="No work is recorded in this time." command="instar connect">
              Point an agent at Instar. As soon as it works, its successes and failures are drawn here.
            </Empty>
          ) : (
            <Charts
              growth={value}
              scope={{ agent, project }}
              split={split}
              onSplit={(at) => change({ split: at })}
            />
          )
        }
      </Loaded>
    </View>
  );
}

/** Whose work is drawn: its sessions are those of the same agent and project. */
interface WorkScope {
  readonly agent: string | undefined;
  readonly project: string | undefined;
}

interface ChartsProps {
  readonly growth: Growth;
  readonly scope: WorkScope;
  readonly split: string | undefined;
  readonly onSplit: (at: string | undefined) => void;
}

function Charts({ growth, scope, split, onSplit }: ChartsProps) {
  const { days, marks, total } = growth;
  const size = sizeOf(days.length);
  const pooled = useMemo(() => poolDays(days, size), [days, size]);
  const x = useMemo(() => pooled.map(({ from, to }) => (noonOf(from) + noonOf(to)) / 2), [pooled]);
  const lines = useMemo((): readonly (readonly ChartLine[])[] => {
    const lineOf = (
      label: string,
      key: 'success' | 'reward',
      format: (value: number) => string,
    ): ChartLine[] => [
      {
        label,
        values: pooled.map((day) => day[key]?.mean ?? null),
        low: pooled.map((day) => day[key]?.low ?? null),
        high: pooled.map((day) => day[key]?.high ?? null),
        format,
      },
    ];
    return [
      lineOf('Successes', 'success', (value) => percent(value)),
      lineOf('Mean reward', 'reward', (value) => signed(value, 1)),
    ];
  }, [pooled]);
  const drawn = useMemo(
    () => marks.map(({ at, kind }) => ({ x: toMs(at) / 1000, isStrong: kind === 'policy' || at === split })),
    [marks, split],
  );
  const [success = [], reward = []] = lines;
  const judged = total.successes + total.failures;
  const sessionsOf = (query: Query): string => linkTo(['sessions'], { ...scope, ...query });
  const all = spanOf(days[0]?.day ?? '', days.at(-1)?.day);
  const { agent, project } = scope;
  const hrefOf = useCallback(
    (index: number): string | undefined => {
      const point = pooled[index];
      return point && linkTo(['sessions'], { agent, project, ...spanOf(point.from, point.to) });
    },
    [pooled, agent, project],
  );
  const saySuccess = useCallback(
    (index: number) => sayPoint(pooled[index], 'success', (value) => percent(value)),
    [pooled],
  );
  const sayReward = useCallback((index: number) => sayPoint(pooled[index], 'reward', signed), [pooled]);
  return (
    <>
      <Section
        title="Share of successes"
        note={
          <>
            <a href={sessionsOf(all)}>{plural(total.turns, 'turn')}</a>, {judged} with an outcome:{' '}
            <a href={sessionsOf({ ...all, outcome: 'good' })}>
              {plural(total.successes, 'success', 'successes')}
            </a>
            , <a href={sessionsOf({ ...all, outcome: 'bad' })}>{plural(total.failures, 'failure')}</a>
            {size > 1 && `; each point is ${size} days`}
          </>
        }
      >
        <Chart
          label="Share of successes by day"
          x={x}
          isTime
          lines={success}
          marks={drawn}
          range={SHARE}
          hrefOf={hrefOf}
          say={saySuccess}
        />
      </Section>
      <Section
        title="Mean reward"
        note={<a href={sessionsOf(all)}>{plural(total.scored, 'session')} scored</a>}
      >
        <Chart
          label="Mean reward by day"
          x={x}
          isTime
          lines={reward}
          marks={drawn}
          range={REWARD}
          height={160}
          hrefOf={hrefOf}
          say={sayReward}
        />
      </Section>
      {growth.split !== undefined && (
        <Split
          split={growth.split}
          before={sessionsOf({ from: all.from, to: toMs(growth.split.at) })}
          after={sessionsOf({ from: toMs(growth.split.at), to: all.to })}
          onClose={() => onSplit(undefined)}
        />
      )}
      <Section title="What changed in between" note="dashed lines: generations; solid: weights">
        {marks.length === 0 ? (
          <p class="dim">No generation and no weights changed in this time.</p>
        ) : (
          <Marks marks={marks} split={split} onSplit={onSplit} />
        )}
      </Section>
      <details class="section">
        <summary>The same as a table</summary>
        <Table
          label="Successes and rewards by day"
          rows={days.filter(({ turns }) => turns > 0).toReversed()}
          keyOf={({ day }) => day}
          columns={[
            {
              head: 'Day',
              cell: ({ day }) => <a href={sessionsOf(spanOf(day))}>{shortDay(noonOf(day) * 1000)}</a>,
            },
            { head: 'Turns', is: 'number', cell: ({ turns }) => turns },
            {
              head: 'Successes',
              is: 'number',
              cell: ({ day, successes }) => (
                <CountLink n={successes} href={sessionsOf({ ...spanOf(day), outcome: 'good' })} />
              ),
            },
            {
              head: 'Failures',
              is: 'number',
              cell: ({ day, failures }) => (
                <CountLink n={failures} href={sessionsOf({ ...spanOf(day), outcome: 'bad' })} />
              ),
            },
            { head: 'Share', is: 'number', cell: (day) => percent(day.success?.mean) },
            { head: 'Mean reward', is: 'number', cell: (day) => signed(day.reward?.mean) },
          ]}
        />
      </details>
    </>
  );
}

/** A point of a chart in words: `12 Nov – 14 Nov: 74 % [61 %, 84 %]`. */
function sayPoint(
  point: PooledDays | undefined,
  key: 'success' | 'reward',
  format: (value: number) => string,
): string {
  if (point === undefined) return '';
  const { from, to } = spanOf(point.from, point.to);
  const value = point[key];
  return `${spanWords(from, to)}: ${value === null ? 'no outcome' : `${format(value.mean)} [${format(value.low)}, ${format(value.high)}]`}`;
}

/** Days in one point, so that about thirty to fifty are drawn. */
const sizeOf = (days: number): number => (days <= 45 ? 1 : days <= 120 ? 3 : 7);

const SHARE = [0, 1] as const;
const REWARD = [-1, 1] as const;
const MOST_MARKS = 40;

function Marks({
  marks,
  split,
  onSplit,
}: {
  readonly marks: readonly GrowthMark[];
  readonly split: string | undefined;
  readonly onSplit: (at: string | undefined) => void;
}) {
  return (
    <Table
      label="Generations and policies"
      rows={marks.slice(-MOST_MARKS).toReversed()}
      keyOf={({ at, label }) => `${at} ${label}`}
      columns={[
        { head: 'When', is: 'tight', cell: ({ at }) => <When at={at} /> },
        {
          head: 'What',
          is: 'fill',
          cell: ({ kind, generation, label }) => (
            <>
              <a
                href={
                  kind === 'policy' || generation === undefined
                    ? linkTo(['training'])
                    : linkTo(['generations'], { from: Math.max(0, generation - 1), to: generation })
                }
              >
                {kind === 'policy' ? 'Weights' : `Generation ${generation ?? ''}`}
              </a>{' '}
              <Text>{label}</Text>
            </>
          ),
        },
        {
          head: 'Compare',
          is: 'tight',
          cell: ({ at }) => (
            <button
              type="button"
              class="quiet"
              aria-pressed={split === at}
              onClick={() => onSplit(split === at ? undefined : at)}
            >
              Before and after
            </button>
          ),
        },
      ]}
    />
  );
}

function Split({
  split,
  before,
  after,
  onClose,
}: {
  readonly split: NonNullable<Growth['split']>;
  /** The sessions of each side. */
  readonly before: string;
  readonly after: string;
  readonly onClose: () => void;
}) {
  return (
    <Section
      title="Before and after"
      note={<When at={split.at} />}
      actions={
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      }
    >
      <Table
        label="Before and after"
        rows={[
          { name: 'Share of successes', part: split.success, format: (value: number) => percent(value) },
          { name: 'Mean reward', part: split.reward, format: (value: number) => signed(value) },
        ]}
        keyOf={({ name }) => name}
        columns={[
          { head: 'Measure', is: 'tight', cell: ({ name }) => name },
          { head: 'Before', is: 'tight', cell: ({ part, format }) => measured(part.before, format, before) },
          { head: 'After', is: 'tight', cell: ({ part, format }) => measured(part.after, format, after) },
          { head: 'Difference', is: 'fill', cell: ({ part, format }) => difference(part, format) },
        ]}
      />
      <p class="dim small">
        Other things changed at the same time, too: this compares two times, it is no experiment.
      </p>
    </Section>
  );
}

const measured = ({ n, mean, low, high }: MeasuredPart, format: (value: number) => string, href: string) =>
  mean === null || low === null || high === null ? (
    <span class="dim">none</span>
  ) : (
    <span class="num">
      {format(mean)}{' '}
      <span class="dim">
        [{format(low)}, {format(high)}], n = <a href={href}>{n}</a>
      </span>
    </span>
  );

function difference({ difference: d }: BeforeAfter, format: (value: number) => string) {
  if (d === null) return <span class="dim">too little to compare</span>;
  const scale = Math.ceil(Math.max(Math.abs(d.low), Math.abs(d.high)) * 4) / 4;
  const tone = d.low > 0 ? 'good' : d.high < 0 ? 'bad' : 'dim';
  return (
    <span class="num">
      <IntervalBar mean={d.mean} low={d.low} high={d.high} from={-scale} to={scale} />{' '}
      <span class={tone}>{d.mean > 0 ? `+${format(d.mean).replace('+', '')}` : format(d.mean)}</span>{' '}
      <span class="dim">
        [{format(d.low)}, {format(d.high)}]
      </span>
    </span>
  );
}
