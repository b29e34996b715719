import { useEffect, useMemo, useState } from 'preact/hooks';
import { plural } from '../../../src/text/phrases.ts';
import type { Home, Status } from '../lib/api-shapes.ts';
import { noonOf, spanOf } from '../lib/days.ts';
import { onFeed } from '../lib/feed.ts';
import { shortDay } from '../lib/format.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo } from '../lib/route.ts';
import { Chart } from '../parts/chart.tsx';
import { Command } from '../parts/command.tsx';
import { AskCard, Block, DecideCard } from '../parts/decide-card.tsx';
import { Empty, Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { Text } from '../parts/text.tsx';
import { Tag, View } from '../parts/view.tsx';

const QUIET_MS = 5000;

/** Does it get better, what did it learn, what should I decide. */
export function HomeView() {
  const home = useResource<Home>('/api/page/home', {
    query: { offset: -new Date().getTimezoneOffset() },
    on: ['turn', 'reward', 'appraised', 'rules', 'library', 'waiting', 'hello', 'erased'],
  });
  const status = useResource<Status>('/api/status', { on: ['learning', 'hello', 'waiting'] });
  const { reload } = home;
  // The answer may be some seconds old: once nothing happens any more, it is asked for again.
  useEffect(() => {
    let timer: number | undefined;
    const stop = onFeed(() => {
      window.clearTimeout(timer);
      timer = window.setTimeout(reload, QUIET_MS);
    });
    return () => {
      stop();
      window.clearTimeout(timer);
    };
  }, [reload]);
  return (
    <View title="Home">
      {status.value !== undefined && <Faults status={status.value} />}
      <Loaded of={home}>
        {(value) => (
          <div class="home">
            {value.trend.is === 'none' && value.ruleCount === 0 ? (
              <Begin status={status.value} />
            ) : (
              <Better home={value} />
            )}
            <div class="columns">
              <Learned home={value} />
              <Decide home={value} onDecided={home.reload} />
            </div>
          </div>
        )}
      </Loaded>
    </View>
  );
}

/** What keeps Instar from working; nothing while all is well. */
function Faults({ status: { recording, library, learning, copies } }: { readonly status: Status }) {
  const faults = [
    recording.degraded === undefined ? [] : [`Recording is degraded: ${recording.degraded}`],
    recording.missing === undefined ? [] : [`The record began anew: ${recording.missing}`],
    (recording.lost ?? 0) === 0 ? [] : [`${plural(recording.lost ?? 0, 'turn')} could not be recorded`],
    library.problem === undefined ? [] : [`The library cannot be read: ${library.problem}`],
    learning.problem === undefined || learning.problem === 'starting'
      ? []
      : [`Learning has a problem: ${learning.problem}`],
    copies?.problem === undefined ? [] : [`No new copy could be made: ${copies.problem}`],
  ].flat();
  if (faults.length === 0)
    return learning.on === false ? (
      <p class="notice">
        Learning is off. <a href={linkTo(['settings'])}>Turn it on in Settings</a>
      </p>
    ) : null;
  return (
    <div class="fault" role="alert">
      {faults.map((fault) => (
        <p key={fault}>
          <Text>{fault}</Text>
        </p>
      ))}
      <Command>instar doctor</Command>
    </div>
  );
}

/** Until the first request. Without a provider an agent would be answered by a toy. */
const Begin = ({ status }: { readonly status: Status | undefined }) => {
  const hasProvider = status === undefined || status.providers.length > 0;
  return (
    <Block title="Better?">
      <Empty
        title={hasProvider ? 'Connect your agent.' : 'First, choose a model.'}
        command={hasProvider ? 'instar connect claude-code --write' : 'instar init'}
      >
        {hasProvider ? (
          <>
            Work as before, and say what was wrong when something was: the next session knows. Other clients
            are in <a href={linkTo(['settings'])}>Settings</a>.
          </>
        ) : (
          'Instar passes requests on to it. This finds the keys and local models of your machine:'
        )}
      </Empty>
    </Block>
  );
};

const ratePer = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(1));

function Better({ home: { days, trend, flags } }: { readonly home: Home }) {
  const lines = useMemo(
    () => [
      { label: 'corrections', values: days.map(({ perTen }) => perTen?.corrections ?? null) },
      { label: 'broken rules', values: days.map(({ perTen }) => perTen?.broken ?? null), isSecond: true },
    ],
    [days],
  );
  const marked = useMemo(() => flagsOf(days, flags), [days, flags]);
  const nameOf = (index: number): string =>
    index === days.length - 1 ? 'today' : shortDay(noonOf(days[index]?.day ?? '') * 1000);
  const say = (index: number): string => {
    const day = days[index];
    return day === undefined
      ? ''
      : `${nameOf(index)}: ${plural(day.corrections, 'correction')}, ${plural(day.broken, 'broken rule')} in ${plural(day.sessions, 'session')}`;
  };
  return (
    <Block title="Better?">
      <p class={`verdict is-${trend.is}`}>{trend.words}</p>
      <Chart
        label={`Corrections and broken rules for ten sessions, the week before each of the last ${days.length} days. ${trend.words}`}
        lines={lines}
        flags={marked}
        format={ratePer}
        nameOf={nameOf}
        say={say}
        atLeast={4}
        note="for ten sessions, over the week before each day"
      />
      <details>
        <summary>The same as a table</summary>
        <Table
          label="Corrections and broken rules by day"
          rows={days.filter(({ sessions }) => sessions > 0).toReversed()}
          keyOf={({ day }) => day}
          columns={[
            {
              head: 'Day',
              is: 'fill',
              cell: ({ day }) => (
                <a href={linkTo(['sessions'], spanOf(day))}>{shortDay(noonOf(day) * 1000)}</a>
              ),
            },
            { head: 'Sessions', is: 'number', cell: ({ sessions }) => sessions },
            { head: 'Corrections', is: 'number', cell: ({ corrections }) => corrections },
            { head: 'Broken rules', is: 'number', cell: ({ broken }) => broken },
          ]}
        />
      </details>
    </Block>
  );
}

/** One flag a day: its lesson, or how many it had. */
function flagsOf(days: Home['days'], flags: Home['flags']) {
  const byDay = new Map<number, string[]>();
  for (const { at, title, name } of flags) {
    const day = days.findIndex((one) => {
      const { from, to } = spanOf(one.day);
      const time = Date.parse(at);
      return time >= from && time < to;
    });
    if (day >= 0) byDay.set(day, [...(byDay.get(day) ?? []), title ?? name]);
  }
  return [...byDay].map(([index, titles]) => ({
    index,
    label: titles.length === 1 ? (titles[0] ?? '') : `${titles.length} lessons`,
  }));
}

function Learned({ home: { rules, ruleCount } }: { readonly home: Home }) {
  return (
    <Block title="Learned" note={ruleCount > 0 && <a href={linkTo(['lessons'])}>All lessons</a>}>
      {rules.length === 0 ? (
        <p class="dim">
          Nothing yet. Say what was wrong in the chat, as to a colleague: “no, we always use ISO dates in
          shipping reports”. The rule appears here within seconds.
        </p>
      ) : (
        <ul class="rules">
          {rules.map((rule) => (
            <li key={rule.id}>
              <p class="rule">
                <a href={linkTo(['lessons', rule.id])}>
                  <Text>{rule.title}</Text>
                </a>
                {rule.state === 'trial' && <Tag tone="warn">on trial</Tag>}
              </p>
              <BeforeAfter rule={rule} />
            </li>
          ))}
        </ul>
      )}
    </Block>
  );
}

type Rule = Home['rules'][number];

const times = (n: number): string => (n === 1 ? 'once' : n === 2 ? 'twice' : `${n} times`);

/** `corrected twice → kept 7 of 7`. */
function BeforeAfter({ rule: { said, isTold, adherence } }: { readonly rule: Rule }) {
  const { shown, applied, kept, toldAgain, words } = adherence;
  const before = said === 0 ? 'written down' : `${isTold ? 'corrected' : 'seen'} ${times(said)}`;
  const isGood = toldAgain === 0 && kept === applied;
  return (
    <p class="small dim num">
      {before} → <span class={shown === 0 ? undefined : isGood ? 'good' : 'warn'}>{words}</span>
    </p>
  );
}

function Decide({ home, onDecided }: { readonly home: Home; readonly onDecided: () => void }) {
  const { decide, decideCount, asks } = home;
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const open = asks.filter(({ turn }) => !done.has(turn)).slice(0, decide.length > 0 ? 1 : 2);
  const rest = decideCount - decide.length;
  return (
    <Block
      title="Decide"
      note={
        rest > 0 && (
          <a href={linkTo(['lessons'], { state: 'proposed' })}>All {plural(decideCount, 'lesson')}</a>
        )
      }
    >
      {decide.length === 0 && open.length === 0 && <p class="dim">Nothing needs your decision.</p>}
      <ul class="cards">
        {decide.map(({ id }) => (
          <DecideCard key={id} id={id} onDecided={onDecided} />
        ))}
        {open.map((ask) => (
          <AskCard
            key={ask.turn}
            ask={ask}
            onDone={() => {
              setDone(new Set([...done, ask.turn]));
              onDecided();
            }}
          />
        ))}
      </ul>
    </Block>
  );
}
