import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { plural } from '../../../src/text/phrases.ts';
import type { Adherence, Facets, LessonPage, LessonRow } from '../lib/api-shapes.ts';
import { onFeed } from '../lib/feed.ts';
import { useKeys } from '../lib/keys.ts';
import { usePages } from '../lib/pages.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo, setQuery, type ViewRoute } from '../lib/route.ts';
import { Command } from '../parts/command.tsx';
import { Filter } from '../parts/filter.tsx';
import { LessonPane } from '../parts/lesson-pane.tsx';
import { Rows } from '../parts/rows.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { StateTag } from '../parts/state-tag.tsx';
import { Empty, Fault } from '../parts/states.tsx';
import type { TableColumn } from '../parts/table.tsx';
import { Text } from '../parts/text.tsx';
import { Ago } from '../parts/time.tsx';
import { View } from '../parts/view.tsx';

const STATES: readonly (readonly [state: string, title: string])[] = [
  ['proposed', 'To decide'],
  ['trial', 'On trial'],
  ['live', 'Live'],
  ['retired', 'Not in use'],
  ['rejected', 'Dropped'],
];

const NEAR_TOP = 200;

/** Everything learned; the lessons that wait are a queue to be decided. */
export function LessonsView({ route }: ViewRoute) {
  const { state, kind, agent, q } = route.query;
  const facets = useResource<Facets>('/api/page/facets').value;
  const pages = usePages<LessonRow, LessonPage>(
    '/api/page/lessons',
    { state, kind, agent, q, limit: 100 },
    ({ lessons }) => lessons,
  );
  const { reload } = pages;
  useEffect(
    () =>
      onFeed(({ type }) => {
        // How often a rule was kept is counted as answers come. A long list that somebody reads does not move.
        if ((type === 'library' || type === 'rules') && (state === 'proposed' || scrollY < NEAR_TOP))
          reload();
      }),
    [reload, state],
  );
  const counts = pages.page?.counts;
  const change = (more: Readonly<Record<string, string | undefined>>): void =>
    setQuery({ ...route.query, lesson: undefined, ...more });
  return (
    <View
      title="Lessons"
      lead="What was learned, and how agents keep to it. A lesson that waits for you is shown to no agent."
      actions={<a href={linkTo(['generations'])}>History</a>}
    >
      <StateTabs query={route.query} counts={counts?.states} />
      <div class="filters">
        <SearchField label="Search lessons" value={q} onChange={(value) => change({ q: value })} />
        <Filter
          label="Kind"
          value={kind}
          options={Object.entries(counts?.kinds ?? {}).map(([name, n]) => [name, `${name} (${n})`])}
          onChange={(value) => change({ kind: value })}
        />
        <Filter
          label="Agent"
          value={agent}
          options={(facets?.agents ?? []).map(({ name }) => [name, name])}
          onChange={(value) => change({ agent: value })}
        />
      </div>
      {pages.error !== undefined && <Fault message={pages.error.message} retry={reload} />}
      {pages.rows.length === 0 && !pages.isLoading && pages.error === undefined && (
        <NoLessons state={state} isFiltered={[kind, agent, q].some((value) => value !== undefined)} />
      )}
      {pages.rows.length > 0 &&
        (state === 'proposed' ? (
          <ReviewQueue
            rows={pages.rows}
            chosen={route.query.lesson}
            onChoose={(lesson) => setQuery({ ...route.query, lesson })}
            onDecided={reload}
            onEnd={pages.more}
          />
        ) : (
          <Rows
            label="Lessons"
            rows={pages.rows}
            columns={COLUMNS}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => linkTo(['lessons', id])}
            onEnd={pages.more}
            total={pages.page?.total}
          />
        ))}
    </View>
  );
}

interface StateTabsProps {
  readonly query: ViewRoute['route']['query'];
  readonly counts: Readonly<Record<string, number>> | undefined;
}

function StateTabs({ query, counts }: StateTabsProps) {
  const tab = (value: string | undefined, title: string, n: number | undefined) => (
    <a
      key={title}
      href={linkTo(['lessons'], { ...query, lesson: undefined, state: value })}
      aria-current={query.state === value ? 'page' : undefined}
    >
      {title}
      {n !== undefined && <span class="n">{n}</span>}
    </a>
  );
  const all = counts && Object.values(counts).reduce((sum, n) => sum + n, 0);
  return (
    <nav class="tabs lessons-tabs" aria-label="States">
      {tab(undefined, 'All', all)}
      {STATES.map(([value, title]) => tab(value, title, counts && (counts[value] ?? 0)))}
    </nav>
  );
}

interface QueueProps {
  readonly rows: readonly LessonRow[];
  readonly chosen: string | undefined;
  readonly onChoose: (id: string) => void;
  readonly onDecided: () => void;
  readonly onEnd: () => void;
}

/** The waiting lessons on one side, the whole text of one on the other: what is decided is what is seen. */
function ReviewQueue({ rows, chosen, onChoose, onDecided, onEnd }: QueueProps) {
  const [place, setPlace] = useState(0);
  const named = rows.findIndex(({ id }) => id === chosen);
  const at = named >= 0 ? named : Math.min(place, rows.length - 1);
  const current = rows[at];
  // Two keys may come before the next rendering.
  const newest = useRef(at);
  newest.current = at;
  const move = (step: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, newest.current + step));
    const row = rows[next];
    if (row === undefined) return;
    newest.current = next;
    setPlace(next);
    onChoose(row.id);
    if (next >= rows.length - 3) onEnd();
    document.getElementById(`queue-${row.id}`)?.scrollIntoView({ block: 'nearest' });
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  const decided = useCallback(() => {
    setPlace(at);
    onDecided();
  }, [at, onDecided]);
  return (
    <div class="queue">
      <ul class="queue-list" aria-label="Lessons to decide">
        {rows.map(({ id, title, kind, scope, changedAt }, index) => (
          <li key={id} id={`queue-${id}`}>
            <a
              href={linkTo(['lessons'], { state: 'proposed', lesson: id })}
              aria-current={index === at ? 'true' : undefined}
            >
              <span class="queue-name">
                <Text>{title}</Text>
              </span>
              <span class="dim small">
                {kind}
                {scope.agent !== undefined && (
                  <>
                    {', '}
                    <Text>{scope.agent}</Text>
                  </>
                )}
                {', '}
                <Ago at={changedAt} />
              </span>
            </a>
          </li>
        ))}
      </ul>
      <div class="queue-pane">
        <p class="queue-hint dim small">
          {at + 1} of {plural(rows.length, 'lesson')}{' '}
          <span class="queue-keys">
            <kbd>j</kbd> <kbd>k</kbd> move, <kbd>a</kbd> keeps, <kbd>r</kbd> drops
          </span>
        </p>
        {current !== undefined && <LessonPane key={current.id} id={current.id} onDecided={decided} isQueue />}
      </div>
    </div>
  );
}

const COLUMNS: readonly TableColumn<LessonRow>[] = [
  {
    head: 'Lesson',
    is: 'lesson',
    cell: ({ title, description, state, changedAt }) => (
      <>
        <strong class="lesson-name">
          <Text>{title}</Text>
        </strong>{' '}
        <span class="dim">
          <Text>{description}</Text>
        </span>
        <span class="row-sub">
          {state === 'proposed' ? 'to decide' : state}, <Ago at={changedAt} />
        </span>
      </>
    ),
  },
  {
    head: 'For',
    is: 'wide scope',
    cell: ({ scope }) => <Text>{scope.agent ?? scope.domain ?? 'everything'}</Text>,
  },
  { head: 'Kept', is: 'kept', cell: ({ adherence }) => <KeptCell adherence={adherence} /> },
  { head: 'State', is: 'state wide', cell: ({ state }) => <StateTag state={state} /> },
  { head: 'Changed', is: 'number wide last', cell: ({ changedAt }) => <Ago at={changedAt} /> },
];

/** Of the sessions that it applies to, those that kept it. */
function KeptCell({
  adherence: { shown, applied, kept, toldAgain, words },
}: {
  readonly adherence: Adherence;
}) {
  const isGood = toldAgain === 0 && kept === applied;
  return (
    <span class={`${shown === 0 ? 'dim' : isGood ? 'good' : 'warn'} num`} title={words}>
      {words}
    </span>
  );
}

function NoLessons({
  state,
  isFiltered,
}: {
  readonly state: string | undefined;
  readonly isFiltered: boolean;
}) {
  if (isFiltered)
    return (
      <Empty title="No lesson fits.">
        <a href={linkTo(['lessons'])}>Show all lessons</a>
      </Empty>
    );
  if (state === 'proposed')
    return (
      <Empty title="Nothing to decide.">
        <p>
          Lessons that wait for your decision come here. To be asked about each one, set the autonomy to
          manual:
        </p>
        <Command>instar config set library.autonomy manual</Command>
      </Empty>
    );
  if (state !== undefined) return <Empty title="No lesson is in this state." />;
  return (
    <Empty title="Nothing is learned yet.">
      Work with a connected agent, and correct it when it is wrong: say the rule in the chat, or rate an
      answer in <a href={linkTo(['sessions'])}>Sessions</a>. Instar quotes what you said as a lesson. Skills
      that you have already:
      <p>
        <Command>instar data import FOLDER</Command>
      </p>
    </Empty>
  );
}

/** One lesson with its evidence, effect and history. */
export const LessonView = ({ route }: ViewRoute) => (
  <>
    <p class="view-above">
      <a href={linkTo(['lessons'])}>Lessons</a>
    </p>
    <LessonPane id={route.path[1] ?? ''} />
  </>
);
