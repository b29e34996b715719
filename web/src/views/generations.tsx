import { useEffect, useState } from 'preact/hooks';
import { plural } from '../../../src/text/phrases.ts';
import { whoOf } from '../../../src/text/who.ts';
import { act } from '../lib/act.ts';
import type { GenerationDiff, GenerationPage } from '../lib/api-shapes.ts';
import { onFeed } from '../lib/feed.ts';
import { usePages } from '../lib/pages.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo, setQuery, type ViewRoute } from '../lib/route.ts';
import { Confirm } from '../parts/dialog.tsx';
import { Diff } from '../parts/diff.tsx';
import { Empty, Fault, Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { Text } from '../parts/text.tsx';
import { Ago } from '../parts/time.tsx';
import { Section, Tag, View } from '../parts/view.tsx';

type Generation = GenerationPage['generations'][number];

/** The history of the library: every set of changes is a generation, and any one of them can be brought back. */
export function GenerationsView({ route }: ViewRoute) {
  const pages = usePages<Generation, GenerationPage>(
    '/api/page/generations',
    { limit: 100 },
    ({ generations }) => generations,
  );
  const { reload } = pages;
  useEffect(
    () =>
      onFeed(({ type }) => {
        if (type === 'library') reload();
      }),
    [reload],
  );
  const [target, setTarget] = useState<Generation>();
  const current = pages.page?.generation ?? 0;
  const [from, to] = [numberOf(route.query.from), numberOf(route.query.to)];
  return (
    <View
      title="History"
      above={<a href={linkTo(['lessons'])}>Lessons</a>}
      lead="Each change of the lessons in use is a new generation. Compare any two, or roll back: nothing is deleted."
    >
      {pages.error !== undefined && <Fault message={pages.error.message} retry={reload} />}
      {from !== undefined && to !== undefined && <Comparison from={from} to={to} newest={current} />}
      {pages.rows.length === 0 && pages.isWhole ? (
        <Empty title="The library has not changed yet.">
          The first lesson that goes into use makes generation 1. See{' '}
          <a href={linkTo(['lessons'])}>Lessons</a>.
        </Empty>
      ) : (
        <Section title="History" note={`generation ${current} is in force`}>
          <GenerationTable rows={pages.rows} current={current} onRollback={setTarget} />
          {!pages.isWhole && pages.rows.length > 0 && (
            <button type="button" onClick={pages.more}>
              Older generations
            </button>
          )}
        </Section>
      )}
      {target !== undefined && (
        <Rollback
          to={target.generation}
          current={current}
          onClose={() => setTarget(undefined)}
          onDone={() => {
            setTarget(undefined);
            reload();
          }}
        />
      )}
    </View>
  );
}

interface GenerationTableProps {
  readonly rows: readonly Generation[];
  readonly current: number;
  readonly onRollback: (to: Generation) => void;
}

const GenerationTable = ({ rows, current, onRollback }: GenerationTableProps) => (
  <Table
    label="Generations"
    rows={rows}
    keyOf={({ generation }) => generation}
    columns={[
      {
        head: 'Generation',
        is: 'tight',
        cell: ({ generation }) => (
          <a href={linkTo(['generations'], { from: Math.max(0, generation - 1), to: generation })}>
            {generation}
          </a>
        ),
      },
      { head: 'When', is: 'tight wide', cell: ({ at }) => <Ago at={at} /> },
      {
        head: 'Why',
        is: 'fill',
        cell: (row) => <What row={row} />,
      },
      { head: 'By', is: 'tight wide', cell: ({ by }) => whoOf(by) },
      {
        head: 'Action',
        is: 'tight bare',
        cell: (row) =>
          row.generation === current ? (
            <Tag tone="good">in force</Tag>
          ) : (
            <button
              type="button"
              class="quiet"
              aria-label={`Roll back to generation ${row.generation}`}
              onClick={() => onRollback(row)}
            >
              Roll back
            </button>
          ),
      },
    ]}
  />
);

function numberOf(text: string | undefined): number | undefined {
  const value = Number(text);
  return text !== undefined && Number.isInteger(value) && value >= 0 ? value : undefined;
}

const What = ({ row: { reason, changes = [] } }: { readonly row: Generation }) => (
  <>
    <Text>{reason}</Text>
    {changes.length > 0 && (
      <span class="dim small">
        {' '}
        {changes.slice(0, 6).map(({ op, id, title }, index) => (
          <span key={`${op} ${id}`}>
            {index > 0 && ', '}
            {op}{' '}
            <a href={linkTo(['lessons', id])}>
              <Text>{title === '' ? id : title}</Text>
            </a>
          </span>
        ))}
        {changes.length > 6 && ` and ${changes.length - 6} more`}
      </span>
    )}
  </>
);

interface RollbackProps {
  readonly to: number;
  readonly current: number;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function Rollback({ to, current, onClose, onDone }: RollbackProps) {
  const diff = useResource<GenerationDiff>(`/api/page/generations/${current}/diff`, { query: { to } });
  const roll = async (): Promise<void> => {
    const done = await act<{ readonly generation: number }>(`/api/page/generations/${to}/rollback`, {
      body: { shown: current },
      done: `Rolled back to generation ${to}.`,
    });
    if (done !== undefined) onDone();
  };
  return (
    <Confirm title={`Roll back to generation ${to}?`} act="Roll back" onAct={roll} onClose={onClose}>
      <p>
        The lessons in use become those of generation {to}. To undo it, roll back to generation {current}.
      </p>
      <Loaded of={diff}>
        {({ added, removed, revised }) => (
          <ul class="plain-list small">
            {added.map(({ id, title }) => (
              <li key={id}>
                <Tag tone="good">comes back</Tag> <Text>{title}</Text>
              </li>
            ))}
            {removed.map(({ id, title }) => (
              <li key={id}>
                <Tag tone="bad">is dropped</Tag> <Text>{title}</Text>
              </li>
            ))}
            {revised.map(({ id, title }) => (
              <li key={id}>
                <Tag tone="warn">gets its old text</Tag> <Text>{title}</Text>
              </li>
            ))}
            {added.length + removed.length + revised.length === 0 && <li>Nothing would change.</li>}
          </ul>
        )}
      </Loaded>
    </Confirm>
  );
}

interface ComparisonProps {
  readonly from: number;
  readonly to: number;
  readonly newest: number;
}

function Comparison({ from, to, newest }: ComparisonProps) {
  const diff = useResource<GenerationDiff>(`/api/page/generations/${from}/diff`, { query: { to } });
  const pick = (label: string, value: number, name: 'from' | 'to') => (
    <label class="inline-field">
      {label}{' '}
      <input
        type="number"
        min={0}
        max={newest}
        value={value}
        onChange={(event) => {
          const number = Number(event.currentTarget.value);
          setQuery({ from, to, [name]: Math.min(newest, Math.max(0, Math.trunc(number))) });
        }}
      />
    </label>
  );
  return (
    <Section
      title={`Generation ${from} to ${to}`}
      actions={
        <>
          {pick('from', from, 'from')} {pick('to', to, 'to')}
          <a class="small" href={linkTo(['generations'])}>
            Close
          </a>
        </>
      }
    >
      <Loaded of={diff}>
        {({ added, removed, revised }) => (
          <div class="comparison">
            {added.length + removed.length + revised.length === 0 && (
              <p class="dim">The lessons in use are the same in both.</p>
            )}
            {added.map((lesson) => (
              <LessonDiff
                key={lesson.id}
                id={lesson.id}
                title={lesson.title}
                what="added"
                before=""
                after={words(lesson)}
              />
            ))}
            {removed.map((lesson) => (
              <LessonDiff
                key={lesson.id}
                id={lesson.id}
                title={lesson.title}
                what="removed"
                before={words(lesson)}
                after=""
              />
            ))}
            {revised.map(({ id, title, before, after }) => (
              <LessonDiff
                key={id}
                id={id}
                title={title}
                what="revised"
                before={words(before)}
                after={words(after)}
              />
            ))}
            <p class="dim small">
              {plural(added.length, 'lesson')} added, {removed.length} removed, {revised.length} revised
            </p>
          </div>
        )}
      </Loaded>
    </Section>
  );
}

const words = ({
  description,
  content,
}: {
  readonly description: string;
  readonly content: string;
}): string => `when: ${description}\n\n${content}`;

const TONES = { added: 'good', removed: 'bad', revised: 'warn' } as const;

interface LessonDiffProps {
  readonly id: string;
  readonly title: string;
  readonly what: keyof typeof TONES;
  readonly before: string;
  readonly after: string;
}

const LessonDiff = ({ id, title, what, before, after }: LessonDiffProps) => (
  <div class="lesson-diff">
    <p>
      <Tag tone={TONES[what]}>{what}</Tag>{' '}
      <a href={linkTo(['lessons', id])}>
        <Text>{title}</Text>
      </a>
    </p>
    <Diff before={before} after={after} />
  </div>
);
