import { useMemo } from 'preact/hooks';
import { plural } from '../../../src/text/phrases.ts';
import type { MemoryNote } from '../lib/api-shapes.ts';
import { linkWords } from '../lib/format.ts';
import { type GraphLink, layoutGraph, type Place } from '../lib/layout-graph.ts';
import { linkTo } from '../lib/route.ts';

interface NoteGraphProps {
  readonly notes: readonly MemoryNote[];
  readonly links: readonly (GraphLink & { readonly type: string })[];
}

const WIDTH = 960;
const HEIGHT = 420;
const LONGEST_NAME = 28;
const LETTER = 6.2;
const LINE = 14;

/** Linked notes as dots, links as lines. All notes are in the table below it. */
export function NoteGraph({ notes, links }: NoteGraphProps) {
  const { linked, places, named } = useMemo(() => {
    const ends = new Set(links.flatMap(({ from, to }) => [from, to]));
    const shown = notes.filter(({ id }) => ends.has(id));
    const found = layoutGraph(
      shown.map(({ id }) => id),
      links,
      WIDTH,
      HEIGHT,
    );
    return { linked: shown, places: found, named: nameable(shown, found) };
  }, [notes, links]);
  const names = new Map(notes.map(({ id, name }) => [id, name]));
  const alone = notes.length - linked.length;
  if (linked.length === 0)
    return (
      <p class="dim">No note is linked to another one yet. Links come when notes are about the same thing.</p>
    );
  return (
    <>
      <div class="graph-scroll">
        <svg class="graph" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-label="Notes and their links">
          <g>
            {links.map(({ from, to, type }) => {
              const [a, b] = [places.get(from), places.get(to)];
              if (a === undefined || b === undefined) return null;
              return (
                <line
                  key={`${from} ${type} ${to}`}
                  x1={a.x}
                  y1={a.y}
                  x2={b.x}
                  y2={b.y}
                  class={`is-${type}`}
                  data-type={type}
                >
                  <title>{`${names.get(from) ?? from} ${linkWords(type)} ${names.get(to) ?? to}`}</title>
                </line>
              );
            })}
          </g>
          {linked.map(({ id, name, state, importance }) => {
            const place = places.get(id);
            if (place === undefined) return null;
            const isLeft = place.x > WIDTH * LEFT_FROM;
            return (
              <a key={id} href={linkTo(['lessons', id])} aria-label={name}>
                <title>{name}</title>
                <circle cx={place.x} cy={place.y} r={radiusOf(importance)} class={`is-${state}`} />
                {named.has(id) && (
                  <text
                    x={place.x + (isLeft ? -GAP : GAP)}
                    y={place.y + 4}
                    text-anchor={isLeft ? 'end' : 'start'}
                  >
                    {shortName(name)}
                  </text>
                )}
              </a>
            );
          })}
        </svg>
      </div>
      <p class="dim small graph-key">
        Filled: live. Ring: on trial. Grey: waiting. Larger: more important. Lines: about the same; dashed:
        contradicts; dotted: summarises, replaces, revises or repeats.
        {alone > 0 &&
          ` ${plural(alone, 'note')} without links ${alone === 1 ? 'is' : 'are'} only in the table.`}
      </p>
    </>
  );
}

const GAP = 12;
const LEFT_FROM = 0.78;

const radiusOf = (importance: number): number => 3.5 + importance * 4.5;

const shortName = (name: string): string =>
  name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;

/** The notes whose names have room: the most important first, none over another one. */
function nameable(notes: readonly MemoryNote[], places: ReadonlyMap<string, Place>): ReadonlySet<string> {
  const taken: { readonly x: number; readonly y: number; readonly width: number }[] = [];
  const named = new Set<string>();
  for (const { id, name } of [...notes].sort((a, b) => b.importance - a.importance)) {
    const place = places.get(id);
    if (place === undefined) continue;
    const width = shortName(name).length * LETTER;
    const box = { x: place.x > WIDTH * LEFT_FROM ? place.x - GAP - width : place.x + GAP, y: place.y, width };
    const isFree =
      taken.every(
        (other) =>
          Math.abs(other.y - box.y) > LINE || other.x > box.x + width || box.x > other.x + other.width,
      ) &&
      [...places.values()].every(
        (dot) => dot === place || Math.abs(dot.y - box.y) > 8 || dot.x < box.x - 4 || dot.x > box.x + width,
      );
    if (!isFree) continue;
    taken.push(box);
    named.add(id);
  }
  return named;
}
