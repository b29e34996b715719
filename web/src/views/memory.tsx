import { plural } from '../../../src/text/phrases.ts';
import type { Memory, MemoryNote } from '../lib/api-shapes.ts';
import { percent } from '../lib/format.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo, setQuery, type ViewRoute } from '../lib/route.ts';
import { NoteGraph } from '../parts/note-graph.tsx';
import { Rows } from '../parts/rows.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { StateTag } from '../parts/state-tag.tsx';
import { Empty, Loaded } from '../parts/states.tsx';
import { Text } from '../parts/text.tsx';
import { Ago } from '../parts/time.tsx';
import { Section, View } from '../parts/view.tsx';

/** The notes and how they hang together. */
export function MemoryView({ route }: ViewRoute) {
  const { q } = route.query;
  const memory = useResource<Memory>('/api/page/memory', { query: { q, limit: 300 }, on: ['library'] });
  return (
    <View
      title="Memory"
      lead="Lessons as notes, with the links between them. A note that contradicts another one, or says the same, is better resolved than shown."
    >
      <div class="filters">
        <SearchField label="Search notes" value={q} onChange={(value) => setQuery({ q: value })} />
      </div>
      <Loaded of={memory}>
        {(value) =>
          value.notes.length === 0 ? (
            q === undefined ? (
              <Empty title="Nothing is remembered yet." command="instar lessons import FOLDER">
                Notes come from what people say to their agents, from practice, and from files of other
                programs:
              </Empty>
            ) : (
              <Empty title="No note fits." />
            )
          ) : (
            <Notes memory={value} />
          )
        }
      </Loaded>
    </View>
  );
}

function Notes({ memory }: { readonly memory: Memory }) {
  const { notes, links, total, archived } = memory;
  const degree = new Map<string, number>();
  for (const { from, to } of links) for (const id of [from, to]) degree.set(id, (degree.get(id) ?? 0) + 1);
  return (
    <>
      <Conflicts memory={memory} />
      <Section
        title="Graph"
        note={
          <>
            {plural(notes.length, 'note')} of {total}, {plural(links.length, 'link')};{' '}
            <a href={linkTo(['lessons'], { state: 'retired' })}>{archived} archived</a>
          </>
        }
      >
        <NoteGraph notes={notes} links={links} />
      </Section>
      <Section title="Notes">
        <Rows<MemoryNote>
          label="Notes"
          rows={notes}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => linkTo(['lessons', id])}
          columns={[
            {
              head: 'Note',
              is: 'lesson',
              cell: ({ title, name, description, kind, changedAt }) => (
                <>
                  <span class="lesson-name">
                    <Text>{title ?? name}</Text>
                  </span>{' '}
                  <span class="dim">
                    <Text>{description}</Text>
                  </span>
                  <span class="row-sub">
                    {kind}, <Ago at={changedAt} />
                  </span>
                </>
              ),
            },
            { head: 'Kind', is: 'wide kind', cell: ({ kind }) => kind },
            { head: 'State', is: 'state', cell: ({ state }) => <StateTag state={state} /> },
            { head: 'Links', is: 'number wide turns', cell: ({ id }) => degree.get(id) ?? 0 },
            { head: 'Importance', is: 'number wide count', cell: ({ importance }) => percent(importance) },
            { head: 'Confidence', is: 'number wide count', cell: ({ confidence }) => percent(confidence) },
            { head: 'Changed', is: 'number wide last', cell: ({ changedAt }) => <Ago at={changedAt} /> },
          ]}
        />
      </Section>
    </>
  );
}

function Conflicts({ memory: { contradictions, same } }: { readonly memory: Memory }) {
  if (contradictions.length === 0 && same.length === 0) return null;
  return (
    <Section title="To resolve" note={plural(contradictions.length + same.length, 'pair')}>
      <ul class="plain-list">
        {contradictions.map(({ a, b, names, why }) => (
          <li key={`${a} ${b}`}>
            <Pair a={a} b={b} names={names} word="contradicts" />
            <p class="dim small">
              <Text>{why}</Text>
            </p>
          </li>
        ))}
        {same.map(({ a, b, names }) => (
          <li key={`${a} ${b}`}>
            <Pair a={a} b={b} names={names} word="says the same as" />
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface PairProps {
  readonly a: string;
  readonly b: string;
  readonly names: readonly string[];
  readonly word: string;
}

const Pair = ({ a, b, names, word }: PairProps) => (
  <p>
    <a href={linkTo(['lessons', a])}>
      <Text>{names[0] ?? a}</Text>
    </a>{' '}
    {word}{' '}
    <a href={linkTo(['lessons', b])}>
      <Text>{names[1] ?? b}</Text>
    </a>
  </p>
);
