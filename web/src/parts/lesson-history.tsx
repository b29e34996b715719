import { useState } from 'preact/hooks';
import { whoOf } from '../../../src/text/who.ts';
import type { Lesson } from '../lib/api-shapes.ts';
import { linkTo } from '../lib/route.ts';
import { Diff } from './diff.tsx';
import { Table } from './table.tsx';
import { Text } from './text.tsx';
import { Ago } from './time.tsx';
import { Section } from './view.tsx';

/** What became of a lesson, and its revisions as a diff. */
export function LessonHistory({ lesson: { history, revisions = [] } }: { readonly lesson: Lesson }) {
  return (
    <>
      {revisions.length > 1 && <Revisions revisions={revisions} />}
      <Section title="History">
        <Table
          label="History of the lesson"
          rows={history.toReversed()}
          keyOf={({ at, op, revision }) => `${at} ${op} ${revision}`}
          columns={[
            { head: 'When', is: 'tight', cell: ({ at }) => <Ago at={at} /> },
            { head: 'What', is: 'tight', cell: ({ op, state }) => `${op}, ${state}` },
            { head: 'By', is: 'tight', cell: ({ by }) => whoOf(by) },
            { head: 'Why', is: 'fill', cell: ({ reason }) => <Text>{reason ?? ''}</Text> },
            {
              head: 'Generation',
              is: 'number',
              cell: ({ generation }) => (
                <a href={linkTo(['generations'], { from: Math.max(0, generation - 1), to: generation })}>
                  {generation}
                </a>
              ),
            },
          ]}
        />
      </Section>
    </>
  );
}

type Revision = NonNullable<Lesson['revisions']>[number];

function Revisions({ revisions }: { readonly revisions: readonly Revision[] }) {
  const last = revisions.at(-1)?.revision ?? 1;
  const [from, setFrom] = useState(revisions.at(-2)?.revision ?? 1);
  const [to, setTo] = useState(last);
  const find = (number: number): Revision | undefined =>
    revisions.find(({ revision }) => revision === number);
  const picker = (label: string, value: number, set: (revision: number) => void) => (
    <select aria-label={label} value={value} onChange={(event) => set(Number(event.currentTarget.value))}>
      {revisions.map(({ revision, by }) => (
        <option key={revision} value={revision}>
          revision {revision}, by {whoOf(by)}
        </option>
      ))}
    </select>
  );
  const [before, after] = [find(from), find(to)];
  return (
    <Section
      title="Revisions"
      actions={
        <>
          {picker('From revision', from, setFrom)} {picker('To revision', to, setTo)}
        </>
      }
    >
      {before?.erased === true || after?.erased === true ? (
        <p class="dim">The text of this revision was erased with the session that it came from.</p>
      ) : (
        <Diff before={wordsOf(before)} after={wordsOf(after)} />
      )}
    </Section>
  );
}

const wordsOf = (revision: Revision | undefined): string =>
  revision === undefined
    ? ''
    : `name: ${revision.name ?? ''}\nwhen: ${revision.description ?? ''}\n\n${revision.content ?? ''}`;
