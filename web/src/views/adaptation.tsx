import { useState } from 'preact/hooks';
import { plural } from '../../../src/text/phrases.ts';
import type { Adaptation, Candidate } from '../lib/api-shapes.ts';
import { changeLesson } from '../lib/change-lesson.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo } from '../lib/route.ts';
import { scopeWords } from '../parts/lesson-facts.tsx';
import { StateTag } from '../parts/state-tag.tsx';
import { Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { LongText, Text } from '../parts/text.tsx';
import { Ago } from '../parts/time.tsx';
import { Section, Tag, type Tone } from '../parts/view.tsx';

/** Events, the candidates that they make, and what changes how requests are served. */
export function AdaptationPart() {
  const adaptation = useResource<Adaptation>('/api/page/adaptation', {
    on: ['event', 'library', 'learning'],
  });
  return (
    <Loaded of={adaptation}>
      {(value) => (
        <>
          <p class="lead">
            Agents and pipelines report events. Events that agree become a candidate, and an approved
            candidate changes how requests are served.
          </p>
          <Changes overlays={value.overlays} onChanged={adaptation.reload} />
          {value.pipelines.length > 0 && <Pipelines pipelines={value.pipelines} />}
          {value.candidates.length > 0 && <Candidates candidates={value.candidates} events={value.events} />}
          {value.events.length > 0 && <Events adaptation={value} />}
        </>
      )}
    </Loaded>
  );
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;

function Pipelines({ pipelines }: { readonly pipelines: Adaptation['pipelines'] }) {
  const rows = pipelines.flatMap(({ name, agent, count, mean, runs }) => [
    { key: `${agent}/${name}`, what: `${name} of ${agent}, ${plural(count, 'run')}`, ...mean },
    ...runs.map(({ run, ...figures }) => ({ key: `${agent}/${name}/${run}`, what: run, ...figures })),
  ]);
  return (
    <Section
      title="Pipelines"
      note="robustness: 0.4 completion, 0.3 stages without a retry, 0.3 few refine cycles"
    >
      <Table
        label="Pipelines"
        rows={rows}
        keyOf={({ key }) => key}
        columns={[
          { head: 'Pipeline, and its runs', is: 'fill', cell: ({ what }) => <Text>{what}</Text> },
          { head: 'Completed', is: 'number', cell: ({ completion }) => percent(completion) },
          { head: 'Retried', is: 'number', cell: ({ retryRate }) => percent(retryRate) },
          { head: 'Refines', is: 'number', cell: ({ refinesPerStage }) => refinesPerStage.toFixed(1) },
          { head: 'Robustness', is: 'number', cell: ({ robustness }) => robustness.toFixed(3) },
        ]}
      />
    </Section>
  );
}

interface ChangesProps {
  readonly overlays: Adaptation['overlays'];
  readonly onChanged: () => void;
}

function Changes({ overlays, onChanged }: ChangesProps) {
  const [busy, setBusy] = useState('');
  const retire = async (overlay: ChangesProps['overlays'][number]): Promise<void> => {
    setBusy(overlay.lesson);
    await changeLesson({ id: overlay.lesson, title: overlay.name, hash: overlay.hash }, 'retire', {
      reason: 'dropped on the page',
    });
    setBusy('');
    onChanged();
  };
  return (
    <Section title="In force" note={plural(overlays.length, 'change')}>
      {overlays.length === 0 ? (
        <p class="dim">Events have not changed how requests are served.</p>
      ) : (
        <Table
          label="Changes in force"
          rows={overlays}
          keyOf={({ lesson }) => lesson}
          columns={[
            {
              head: 'Change',
              cell: ({ lesson, name }) => (
                <a href={linkTo(['lessons', lesson])}>
                  <Text>{name}</Text>
                </a>
              ),
            },
            { head: 'State', is: 'tight', cell: ({ state }) => <StateTag state={state} /> },
            { head: 'For', cell: ({ scope }) => <Text>{scopeWords(scope)}</Text> },
            {
              head: 'What it does',
              is: 'fill',
              cell: ({ payload }) => (
                <details>
                  <summary>{String(payload.type ?? 'payload').replaceAll('_', ' ')}</summary>
                  <LongText isCode>{JSON.stringify(payload, null, 2)}</LongText>
                </details>
              ),
            },
            {
              head: 'Action',
              is: 'tight bare',
              cell: (overlay) => (
                <button type="button" class="quiet" disabled={busy !== ''} onClick={() => retire(overlay)}>
                  Drop
                </button>
              ),
            },
          ]}
        />
      )}
    </Section>
  );
}

const TONES: Readonly<Record<string, Tone>> = {
  proposed: 'accent',
  published: 'good',
  live: 'good',
  trial: 'warn',
};

/** What a candidate needs, and how the numbers add up. */
const NEEDED = 60;

function Candidates({
  candidates,
  events,
}: {
  readonly candidates: readonly Candidate[];
  readonly events: Adaptation['events'];
}) {
  const sessions = new Map(events.map(({ id, session }) => [id, session]));
  return (
    <Section
      title="Candidates"
      note={`${NEEDED} points are needed: 0.85 of the mean score of other events, and 5 for each of them, at most 15`}
    >
      <Table
        label="Candidates"
        rows={candidates}
        keyOf={({ id }) => id}
        columns={[
          { head: 'Change', is: 'tight', cell: ({ type }) => type.replaceAll('_', ' ') },
          {
            head: 'About',
            cell: ({ scopeType, scopeId }) => <Text>{`${scopeType.replace('_', ' ')} ${scopeId}`}</Text>,
          },
          { head: 'Points', cell: (candidate) => <Arithmetic candidate={candidate} sessions={sessions} /> },
          {
            head: 'State',
            is: 'fill',
            cell: ({ status, why, lesson }) => (
              <>
                {lesson === undefined ? (
                  <Tag tone={TONES[status] ?? 'plain'}>{status}</Tag>
                ) : (
                  <a href={linkTo(['lessons', lesson])}>
                    <Tag tone={TONES[status] ?? 'plain'}>{status}</Tag>
                  </a>
                )}{' '}
                {why !== undefined && (
                  <span class="dim">
                    <Text>{why}</Text>
                  </span>
                )}
              </>
            ),
          },
        ]}
      />
    </Section>
  );
}

function Arithmetic({
  candidate: { score, mean, matches, records },
  sessions,
}: {
  readonly candidate: Candidate;
  readonly sessions: ReadonlyMap<string, string | undefined>;
}) {
  const linked = records.flatMap((id) => sessions.get(id) ?? []);
  return (
    <span class="num">
      <strong class={score >= NEEDED ? 'good' : undefined}>{Math.round(score)}</strong>{' '}
      <span class="dim small wide">
        {matches === 0 ? 'by itself' : `mean ${Math.round(mean)} of ${plural(matches, 'other event')}`}
        {linked.slice(0, 3).map((session, index) => (
          <span key={session}>
            {index === 0 ? '; sessions ' : ', '}
            <a href={linkTo(['sessions', session])}>{index + 1}</a>
          </span>
        ))}
      </span>
    </span>
  );
}

const FIRST_EVENTS = 15;

function Events({ adaptation: { events, counts } }: { readonly adaptation: Adaptation }) {
  const [isAll, setAll] = useState(false);
  const shown = isAll ? events : events.slice(0, FIRST_EVENTS);
  return (
    <Section
      title="Events"
      note={`${plural(counts.records, 'record')}, ${counts.scoring} with a score that counts`}
    >
      <Table
        label="Events"
        rows={shown}
        keyOf={({ id }) => id}
        columns={[
          { head: 'When', is: 'tight', cell: ({ at }) => <Ago at={at} /> },
          { head: 'Kind', cell: ({ kind }) => <Text>{kind.replaceAll('_', ' ')}</Text> },
          {
            head: 'About',
            cell: (event) => <Text>{`${event.scopeType.replace('_', ' ')} ${event.scopeId}`}</Text>,
          },
          { head: 'Score', is: 'number', cell: ({ score }) => score },
          {
            head: 'Evidence',
            is: 'fill',
            cell: ({ session }) =>
              session === undefined ? (
                <span class="dim">reported</span>
              ) : (
                <a href={linkTo(['sessions', session])}>session</a>
              ),
          },
        ]}
      />
      {shown.length < events.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {plural(events.length, 'event')}
        </button>
      )}
    </Section>
  );
}
