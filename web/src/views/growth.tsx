import { useMemo } from 'preact/hooks';
import { plural } from '../../../src/text/phrases.ts';
import { percent, shortDay, signed, toMs } from '../lib/format.ts';
import { poolDays } from '../lib/pool-days.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo, setQuery, type ViewRoute } from '../lib/route.ts';
import type { BeforeAfter, Facets, Growth, GrowthMark, MeasuredPart } from '../lib/work-shapes.ts';
import { Chart, type ChartLine } from '../parts/chart.tsx';
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
            <Charts growth={value} split={split} onSplit={(at) => change({ split: at })} />
          )
        }
      </Loaded>
    </View>
  );
}

interface ChartsProps {
  readonly growth: Growth;
  readonly split: string | undefined;
  readonly onSplit: (at: string | undefined) => void;
}

/** The middle of a local day, in seconds: it lies on its day in every time zone of the chart. */
const noonOf = (day: string): number => Date.parse(`${day}T12:00:00`) / 1000;

function Charts({ growth, split, onSplit }: ChartsProps) {
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
  return (
    <>
      <Section
        title="Share of successes"
        note={`${plural(judged, 'turn')} with an outcome of ${plural(total.turns, 'turn')}${size === 1 ? '' : `; each point is ${size} days`}`}
      >
        <Chart label="Share of successes by day" x={x} isTime lines={success} marks={drawn} range={SHARE} />
      </Section>
      <Section title="Mean reward" note={`${plural(total.scored, 'session')} scored`}>
        <Chart
          label="Mean reward by day"
          x={x}
          isTime
          lines={reward}
          marks={drawn}
          range={REWARD}
          height={160}
        />
      </Section>
      {growth.split !== undefined && <Split split={growth.split} onClose={() => onSplit(undefined)} />}
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
            { head: 'Day', cell: ({ day }) => shortDay(noonOf(day) * 1000) },
            { head: 'Turns', is: 'number', cell: ({ turns }) => turns },
            { head: 'Successes', is: 'number', cell: ({ successes }) => successes },
            { head: 'Failures', is: 'number', cell: ({ failures }) => failures },
            { head: 'Share', is: 'number', cell: (day) => percent(day.success?.mean) },
            { head: 'Mean reward', is: 'number', cell: (day) => signed(day.reward?.mean) },
          ]}
        />
      </details>
    </>
  );
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
  onClose,
}: {
  readonly split: NonNullable<Growth['split']>;
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
          { head: 'Before', is: 'tight', cell: ({ part, format }) => measured(part.before, format) },
          { head: 'After', is: 'tight', cell: ({ part, format }) => measured(part.after, format) },
          { head: 'Difference', is: 'fill', cell: ({ part, format }) => difference(part, format) },
        ]}
      />
      <p class="dim small">
        Other things changed at the same time, too: this compares two times, it is no experiment.
      </p>
    </Section>
  );
}

const measured = ({ n, mean, low, high }: MeasuredPart, format: (value: number) => string) =>
  mean === null || low === null || high === null ? (
    <span class="dim">none</span>
  ) : (
    <span class="num">
      {format(mean)}{' '}
      <span class="dim">
        [{format(low)}, {format(high)}], n = {n}
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
