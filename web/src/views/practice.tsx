import { useEffect, useState } from 'preact/hooks';
import { dollars, plural } from '../../../src/text/phrases.ts';
import { shortId } from '../../../src/text/short-id.ts';
import { act } from '../lib/act.ts';
import type { Practice, PracticeReport, PracticeSession, PracticeTasks } from '../lib/api-shapes.ts';
import { CallError, call } from '../lib/call.ts';
import { onFeed } from '../lib/feed.ts';
import { count, percent } from '../lib/format.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo } from '../lib/route.ts';
import { Command } from '../parts/command.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { PracticeGroups } from '../parts/practice-groups.tsx';
import { Empty, Fault, Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { Text } from '../parts/text.tsx';
import { Ago } from '../parts/time.tsx';
import { Facts, Section, Tag, View } from '../parts/view.tsx';

interface Asked<T> {
  readonly value?: T;
  readonly error?: string;
  reload(): void;
}

/** A reading operation of practice: they are all sent with POST. */
function useAsked<T>(operation: string, body: object): Asked<T> {
  const [state, setState] = useState<{ value?: T; error?: string }>({});
  const [round, setRound] = useState(0);
  const key = JSON.stringify(body);
  // A new round asks again.
  useEffect(() => {
    const leaving = new AbortController();
    const read = (): void =>
      void call<T>('POST', `/api/practice/${operation}`, {
        body: JSON.parse(key) as object,
        signal: leaving.signal,
      }).then(
        (value) => setState({ value }),
        (error: unknown) => {
          if (!leaving.signal.aborted)
            setState({ error: error instanceof CallError ? error.message : String(error) });
        },
      );
    read();
    const stop = onFeed(({ type }) => {
      if (type === 'practice') read();
    });
    return () => {
      stop();
      leaving.abort(new DOMException('left', 'AbortError'));
    };
  }, [operation, key, round]);
  return { ...state, reload: () => setRound((n) => n + 1) };
}

/** What Instar practises while nobody is there, what that taught, and what it cost. */
export function PracticePart() {
  const practice = useResource<Practice>('/api/practice', { on: ['practice', 'job'] });
  const tasks = useAsked<PracticeTasks>('tasks', {});
  return (
    <>
      <p class="lead">
        Agents attempt tasks of your own work several times. What separates good attempts from bad ones
        becomes a lesson on trial, and a lesson stays only if it measurably helps.
      </p>
      <Loaded of={practice}>
        {(value) => (
          <>
            <State practice={value} onDone={practice.reload} />
            <Sessions sessions={value.sessions} />
          </>
        )}
      </Loaded>
      <Section title="Tasks" note={tasks.value === undefined ? undefined : plural(tasks.value.count, 'task')}>
        {tasks.error !== undefined && <Fault message={tasks.error} />}
        {tasks.value !== undefined && <Tasks tasks={tasks.value} onDone={tasks.reload} />}
      </Section>
    </>
  );
}

function RunButton({ practice, onDone }: { readonly practice: Practice; readonly onDone: () => void }) {
  const isRunning = practice.running?.run !== undefined;
  const send = async (operation: 'run' | 'stop'): Promise<void> => {
    const answer = await act<{ readonly started?: boolean; readonly why?: string }>(
      `/api/practice/${operation}`,
      {
        done:
          operation === 'run'
            ? 'Practice was asked to begin.'
            : 'Practice stops after the attempt that runs.',
      },
    );
    if (answer !== undefined) onDone();
  };
  if (isRunning)
    return (
      <button type="button" onClick={() => send('stop')}>
        Stop
      </button>
    );
  return (
    <button
      type="button"
      class="primary"
      disabled={practice.whyNot !== undefined || practice.tasks.count === 0}
      onClick={() => send('run')}
    >
      Practise now
    </button>
  );
}

function State({ practice, onDone }: { readonly practice: Practice; readonly onDone: () => void }) {
  const { whyNot, problem, due, running, tasks, faults = [] } = practice;
  return (
    <Section title="Now" actions={<RunButton practice={practice} onDone={onDone} />}>
      <Facts
        rows={[
          [
            'Session',
            running?.run === undefined
              ? 'none is running'
              : `${String(running.kind ?? '')} ${String(running.run)} is running`,
          ],
          ...(problem === undefined ? [] : [['Problem', <span class="bad">{problem}</span>] as const]),
          ...(whyNot === undefined ? [] : [['Not now', <Text>{whyNot}</Text>] as const]),
          ['Due', due?.kind === undefined ? 'nothing' : `${due.kind}: ${due.why ?? ''}`],
          [
            'Tasks',
            `${tasks.count}: ${tasks.learn} to learn from, ${tasks.gate} to measure lessons on, ${tasks.report} for reports`,
          ],
          ...faults.map(({ file, line, what, fix }) => ['File', `${file}:${line}: ${what}. ${fix}`] as const),
        ]}
      />
    </Section>
  );
}

const END_TONES = { done: 'good', open: 'accent', budget: 'warn' } as const;
const endTone = (end: string) => END_TONES[end as keyof typeof END_TONES] ?? 'plain';

const spentWords = (spent: PracticeSession['spent']): string =>
  spent === undefined ? '–' : `${count(spent.tokens ?? 0)} tokens, ${dollars(spent.usd ?? 0)}`;

function Sessions({ sessions }: { readonly sessions: readonly PracticeSession[] }) {
  return (
    <Section title="Sessions of practice">
      {sessions.length === 0 ? (
        <Empty title="Nothing was practised yet." command="instar practice run --plan">
          Practice begins by itself in the next window when there are tasks. See first what it would cost:
        </Empty>
      ) : (
        <Table
          label="Sessions of practice"
          rows={sessions}
          keyOf={({ run }) => run}
          columns={[
            {
              head: 'Session',
              is: 'tight',
              cell: ({ run }) => <a href={linkTo(['lab', 'practice', run])}>{shortId(run)}</a>,
            },
            { head: 'When', is: 'tight', cell: ({ at }) => <Ago at={at} /> },
            { head: 'Kind', is: 'wide', cell: ({ kind }) => kind },
            { head: 'Tasks', is: 'number wide', cell: ({ tasks }) => tasks },
            { head: 'End', is: 'tight', cell: ({ end }) => <Tag tone={endTone(end)}>{end}</Tag> },
            {
              head: 'Lessons',
              is: 'tight',
              cell: ({ learned = 0, helpful = 0 }) => `${learned} on trial, ${helpful} helped`,
            },
            { head: 'Spent', is: 'number wide', cell: ({ spent }) => spentWords(spent) },
            { head: 'Why', is: 'fill wide', cell: ({ why }) => <Text>{why}</Text> },
          ]}
        />
      )}
    </Section>
  );
}

const SHOWN_TASKS = 60;

/** What a task is for. */
const SPLITS: Readonly<Record<string, string>> = {
  learn: 'learn from',
  gate: 'test lessons',
  report: 'measure progress',
};

type Task = PracticeTasks['tasks'][number];

function Tasks({ tasks: { tasks }, onDone }: { readonly tasks: PracticeTasks; readonly onDone: () => void }) {
  const [isAll, setAll] = useState(false);
  const [excluded, setExcluded] = useState<Task>();
  const exclude = async ({ id }: Task): Promise<void> => {
    await act('/api/practice/exclude', {
      body: { ids: [id], why: 'excluded on the page' },
      done: 'The task is excluded.',
    });
    onDone();
  };
  if (tasks.length === 0)
    return (
      <Empty title="There are no tasks yet.">
        <p>
          Instar finds them in your own sessions, once some have an outcome that can be checked. You can also
          mark a session in <a href={linkTo(['sessions'])}>Sessions</a>, or give tasks with their checks in a
          file:
        </p>
        <Command>instar practice tasks --add FILE.jsonl</Command>
      </Empty>
    );
  const newest = tasks.toReversed();
  const shown = isAll ? newest : newest.slice(0, SHOWN_TASKS);
  return (
    <>
      <Table
        label="Tasks of practice"
        rows={shown}
        keyOf={({ id }) => id}
        columns={[
          {
            head: 'Task',
            is: 'fill',
            cell: ({ prompt }) => (
              <span class="clamp">
                <Text>{prompt}</Text>
              </span>
            ),
          },
          { head: 'From', is: 'tight wide', cell: ({ origin }) => origin },
          { head: 'Used to', is: 'tight wide', cell: ({ split }) => SPLITS[split] ?? split },
          { head: 'Check', is: 'tight wide', cell: ({ check }) => check ?? <span class="dim">none</span> },
          { head: 'Passes', is: 'number', cell: ({ expected }) => percent(expected) },
          { head: 'Tried', is: 'number', cell: ({ practised }) => practised },
          {
            head: 'Action',
            is: 'tight bare wide',
            cell: (task) => (
              <button type="button" class="quiet" onClick={() => setExcluded(task)}>
                Exclude
              </button>
            ),
          },
        ]}
      />
      {excluded !== undefined && (
        <Confirm
          title="Exclude this task?"
          act="Exclude for good"
          isDangerous
          onAct={() => exclude(excluded)}
          onClose={() => setExcluded(undefined)}
        >
          <p>
            <Text>{excluded.prompt}</Text>
          </p>
          <p class="dim">It is never attempted again, and never found again in your sessions.</p>
        </Confirm>
      )}
      {shown.length < tasks.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {plural(tasks.length, 'task')}
        </button>
      )}
    </>
  );
}

/** One session of practice. */
export function PracticeReportView({ run }: { readonly run: string }) {
  const { value, error } = useAsked<PracticeReport>('report', { run });
  return (
    <View
      title={`Practice session ${shortId(run)}`}
      above={<a href={linkTo(['lab', 'practice'])}>Practice</a>}
      lead={value === undefined ? undefined : <Text>{`${value.kind}: ${value.why}`}</Text>}
    >
      {error !== undefined && <Fault message={error} />}
      {value !== undefined && <ReportBody report={value} />}
    </View>
  );
}

function ReportBody({ report }: { readonly report: PracticeReport }) {
  const { counts = {}, stages = [], lessons = [], perTask = [], attemptedBy = [] } = report;
  return (
    <>
      <Facts
        rows={[
          ['End', <Tag tone={endTone(report.end)}>{report.end}</Tag>],
          ...(report.note === undefined ? [] : [['Note', <Text>{report.note}</Text>] as const]),
          [
            'Attempts',
            `${counts.graded ?? 0} graded, ${counts.ungraded ?? 0} without a grade, ${counts.infrastructure ?? 0} could not be run`,
          ],
          ['Groups', `${counts.kept ?? 0} of ${counts.groups ?? 0} had better and worse attempts`],
          ['Attempted by', <Text>{attemptedBy.join(', ') || '–'}</Text>],
          ['Spent', spentWords(report.spent)],
        ]}
      />
      <Section title="Lessons and the gate" note={plural(lessons.length, 'verdict')}>
        {lessons.length === 0 ? (
          <p class="dim">
            {(counts.kept ?? 0) === 0
              ? 'Nothing was learned: no group had attempts that differed enough.'
              : `Attempts differed in ${plural(counts.kept ?? 0, 'group')}, and no lesson came of it.`}
          </p>
        ) : (
          <Table
            label="Lessons of this session"
            rows={lessons}
            keyOf={({ id }) => id}
            columns={[
              {
                head: 'Lesson',
                cell: ({ id, title }) => (
                  <a href={linkTo(['lessons', id])}>
                    <Text>{title}</Text>
                  </a>
                ),
              },
              { head: 'Now', is: 'tight', cell: ({ state, outcome }) => <Tag>{state ?? outcome}</Tag> },
              {
                head: 'Verdict',
                is: 'fill',
                cell: ({ tested, why, says }) => (
                  <>
                    <Text>{tested ?? why.join('; ')}</Text>
                    {says !== undefined && (
                      <p class="dim small">
                        <Text>{says}</Text>
                      </p>
                    )}
                  </>
                ),
              },
            ]}
          />
        )}
      </Section>
      <PracticeGroups groups={perTask} />
      <Section title="What it cost">
        <Table
          label="Cost by stage"
          rows={stages}
          keyOf={({ stage }) => stage}
          columns={[
            { head: 'Stage', is: 'fill', cell: ({ stage }) => stage },
            { head: 'Calls', is: 'number', cell: ({ calls }) => count(calls) },
            { head: 'Tokens', is: 'number', cell: ({ tokens }) => count(tokens) },
            { head: 'Cost', is: 'number', cell: ({ usd }) => dollars(usd) },
          ]}
        />
      </Section>
    </>
  );
}
