import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { plural } from '../../../src/text/phrases.ts';
import { shortId } from '../../../src/text/short-id.ts';
import type { Facets, Lesson, SessionPage, SessionRow } from '../lib/api-shapes.ts';
import { onFeed } from '../lib/feed.ts';
import { spanWords } from '../lib/format.ts';
import { type Pages, usePages } from '../lib/pages.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo, setQuery, type ViewRoute } from '../lib/route.ts';
import { Chip } from '../parts/chip.tsx';
import { Filter } from '../parts/filter.tsx';
import { Rows } from '../parts/rows.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { Empty, Fault, Loading } from '../parts/states.tsx';
import type { TableColumn } from '../parts/table.tsx';
import { Text } from '../parts/text.tsx';
import { Ago } from '../parts/time.tsx';
import { Tag, View } from '../parts/view.tsx';

const PAGE = 100;
const NEAR_TOP = 200;

export function SessionsView({ route }: ViewRoute) {
  const { q, agent, project, client, outcome, practice, from, to, lesson, arm, since } = route.query;
  const pages = usePages<SessionRow, SessionPage>(
    '/api/page/sessions',
    { q, agent, project, client, outcome, practice, from, to, lesson, arm, since, limit: PAGE },
    ({ sessions }) => sessions,
  );
  const { reload } = pages;
  const { isBehind, caughtUp } = useNewest(reload);
  useSearchOn(pages);
  const change = (more: Readonly<Record<string, string | undefined>>): void =>
    setQuery({ ...route.query, search: undefined, ...more });
  const isFiltered = [q, agent, project, client, outcome, from, to, lesson].some(
    (value) => value !== undefined,
  );
  return (
    <View
      title="Sessions"
      lead="Every conversation that came through, newest first. Open one to see what was said, how it was judged, and which lessons it was shown."
    >
      <SessionFilters query={route.query} change={change}>
        {isBehind && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              caughtUp();
              scrollTo(0, 0);
              reload();
            }}
          >
            Show what is new
          </button>
        )}
      </SessionFilters>
      {pages.error !== undefined && <Fault message={pages.error.message} retry={reload} />}
      {pages.rows.length === 0 && pages.isLoading && q === undefined && <Loading />}
      {pages.rows.length > 0 && (
        <Rows
          label="Sessions"
          rows={pages.rows}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => linkTo(['sessions', id])}
          onEnd={pages.more}
          total={pages.isWhole ? pages.rows.length : -1}
        />
      )}
      {pages.rows.length === 0 && !pages.isLoading && pages.isWhole && <NoSessions isFiltered={isFiltered} />}
      <p class="list-end dim small" role="status">
        {endOf(pages.rows.length, pages.isWhole, pages.isLoading, pages.page)}
      </p>
      {!pages.isWhole && !pages.isLoading && pages.rows.length < PAGE && pages.error === undefined && (
        <button type="button" onClick={pages.more}>
          Go on searching
        </button>
      )}
    </View>
  );
}

/** Whether something happened that the list does not show. While the newest are in sight they follow by themselves. */
function useNewest(reload: () => void) {
  const [isBehind, setBehind] = useState(false);
  useEffect(
    () =>
      onFeed(({ type }) => {
        if (type === 'turn' || type === 'erased' || type === 'scored' || type === 'reward') setBehind(true);
      }),
    [],
  );
  // A list that somebody reads does not move.
  useEffect(() => {
    if (!isBehind || scrollY > NEAR_TOP) return;
    const timer = setTimeout(() => {
      setBehind(false);
      reload();
    }, 1000);
    return () => clearTimeout(timer);
  }, [isBehind, reload]);
  return { isBehind, caughtUp: () => setBehind(false) };
}

/** A search answers in parts, also empty ones: it goes on by itself until something is found. */
function useSearchOn({ rows, more, isLoading, isWhole, error }: Pages<SessionRow, SessionPage>): void {
  const count = rows.length;
  useEffect(() => {
    if (count === 0 && !isLoading && !isWhole && error === undefined) more();
  }, [count, isLoading, isWhole, error, more]);
}

interface SessionFiltersProps {
  readonly query: ViewRoute['route']['query'];
  readonly change: (more: Readonly<Record<string, string | undefined>>) => void;
  readonly children: ComponentChildren;
}

function SessionFilters({ query, change, children }: SessionFiltersProps) {
  const { q, agent, project, client, outcome, practice, from, to, lesson, arm, search } = query;
  const facets = useResource<Facets>('/api/page/facets').value;
  return (
    <div class="filters">
      <SearchField
        label="Search conversations"
        value={q}
        isFocused={search !== undefined}
        onChange={(value) => change({ q: value })}
      />
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
      <Filter
        label="Client"
        value={client}
        options={(facets?.clients ?? []).map(({ name }) => [name, name])}
        onChange={(value) => change({ client: value })}
      />
      <Filter
        label="Outcome"
        value={outcome}
        options={[
          ['good', 'went well'],
          ['bad', 'went badly'],
          ['rated', 'rated by a person'],
        ]}
        onChange={(value) => change({ outcome: value })}
      />
      {(from !== undefined || to !== undefined) && (
        <Chip
          label={spanWords(timeOf(from), timeOf(to))}
          onRemove={() => change({ from: undefined, to: undefined })}
        />
      )}
      {lesson !== undefined && (
        <LessonChip
          lesson={lesson}
          arm={arm}
          onRemove={() => change({ lesson: undefined, arm: undefined, since: undefined })}
        />
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={practice === 'true'}
          onChange={(event) => change({ practice: event.currentTarget.checked ? 'true' : undefined })}
        />{' '}
        with practice
      </label>
      {children}
    </div>
  );
}

const ARMS: Readonly<Record<string, string>> = { with: 'measured with', without: 'measured without' };

interface LessonChipProps {
  readonly lesson: string;
  readonly arm: string | undefined;
  readonly onRemove: () => void;
}

function LessonChip({ lesson, arm, onRemove }: LessonChipProps) {
  const title = useResource<Lesson>(`/api/page/lessons/${encodeURIComponent(lesson)}`).value?.title;
  return <Chip label={`${ARMS[arm ?? ''] ?? 'shown'} ${title ?? shortId(lesson)}`} onRemove={onRemove} />;
}

/** A time of the address: milliseconds since the epoch. */
function timeOf(text: string | undefined): number | undefined {
  const ms = Number(text);
  return text !== undefined && Number.isFinite(ms) ? ms : undefined;
}

function endOf(rows: number, isWhole: boolean, isLoading: boolean, page: SessionPage | undefined): string {
  const back = page?.searched?.back;
  const searched =
    back === undefined
      ? ''
      : ` Searched ${plural(page?.searched?.sessions ?? 0, 'session')}, back to ${back.slice(0, 10)}.`;
  if (isLoading) return rows === 0 && searched === '' ? '' : `Loading…${searched}`;
  if (rows === 0) return searched;
  return isWhole
    ? `${plural(rows, 'session')}, that is all.`
    : `The newest ${plural(rows, 'session')}.${searched}`;
}

const COLUMNS: readonly TableColumn<SessionRow>[] = [
  {
    head: 'Asked',
    is: 'asked',
    cell: (session) => (
      <>
        {session.erased === true ? (
          <span class="dim">(erased)</span>
        ) : (
          <Text>{session.asked ?? session.answered ?? '(no text)'}</Text>
        )}
        <span class="row-sub">
          <Text>{session.agent}</Text>, {plural(session.turns, 'turn')}, <Ago at={session.lastAt} />
        </span>
      </>
    ),
  },
  {
    head: 'Agent / project',
    is: 'wide agent',
    cell: ({ agent, project }) => (
      <>
        <Text>{agent}</Text>
        {project !== undefined && project.label !== '' && (
          <span class="dim">
            {' / '}
            <Text>{project.label}</Text>
          </span>
        )}
      </>
    ),
  },
  {
    head: 'Lessons shown',
    is: 'number wide shown',
    cell: ({ lessons = 0 }) => (lessons === 0 ? <span class="dim">–</span> : lessons),
  },
  { head: 'Outcome', is: 'outcome', cell: (session) => <Outcome session={session} /> },
  { head: 'Turns', is: 'number wide turns', cell: ({ turns }) => turns },
  { head: 'Last', is: 'number wide last', cell: ({ lastAt }) => <Ago at={lastAt} /> },
];

/** As everything that counts outcomes sees it: `src/api/sessions-api.ts`. */
function Outcome({ session: { outcome, isPractice } }: { readonly session: SessionRow }) {
  return (
    <>
      {isPractice === true && <Tag tone="accent">practice</Tag>}{' '}
      {outcome === undefined ? (
        isPractice !== true && <span class="dim">–</span>
      ) : (
        <Tag tone={outcome}>{outcome === 'good' ? 'went well' : 'went badly'}</Tag>
      )}
    </>
  );
}

const NoSessions = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No session fits.">
      <a href={linkTo(['sessions'])}>Show all sessions</a>
    </Empty>
  ) : (
    <Empty title="Nothing is recorded yet." command="instar connect claude-code --write">
      Point an agent at Instar, and ask it something. Its conversation appears here within a second. Other
      clients: <a href={linkTo(['settings'])}>Settings</a>.
    </Empty>
  );
