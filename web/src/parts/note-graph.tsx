import { useMemo } from 'preact/hooks';
import { type GraphLink, layoutGraph } from '../lib/layout-graph.ts';
import { linkTo } from '../lib/route.ts';
import type { MemoryNote } from '../lib/shapes.ts';

interface NoteGraphProps {
  readonly notes: readonly MemoryNote[];
  readonly links: readonly GraphLink[];
}

const WIDTH = 960;
const HEIGHT = 420;
/** More names than this cover each other. */
const MOST_NAMES = 40;
const LONGEST_NAME = 28;

/** Notes as dots, links as lines. The same is in the table below it. */
export function NoteGraph({ notes, links }: NoteGraphProps) {
  const places = useMemo(
    () =>
      layoutGraph(
        notes.map(({ id }) => id),
        links,
        WIDTH,
        HEIGHT,
      ),
    [notes, links],
  );
  const linked = new Set(links.flatMap(({ from, to }) => [from, to]));
  const named = new Set(
    [...notes]
      .sort((a, b) => Number(linked.has(b.id)) - Number(linked.has(a.id)) || b.importance - a.importance)
      .slice(0, MOST_NAMES)
      .map(({ id }) => id),
  );
  return (
    <svg class="graph" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-label="Notes and their links">
      <g>
        {links.map(({ from, to }) => {
          const [a, b] = [places.get(from), places.get(to)];
          if (a === undefined || b === undefined) return null;
          return <line key={`${from} ${to}`} x1={a.x} y1={a.y} x2={b.x} y2={b.y} />;
        })}
      </g>
      {notes.map(({ id, name, state, importance }) => {
        const place = places.get(id);
        if (place === undefined) return null;
        const isLeft = place.x > WIDTH * 0.8;
        return (
          <a key={id} href={linkTo(['lessons', id])} aria-label={name}>
            <title>{name}</title>
            <circle cx={place.x} cy={place.y} r={4 + importance * 4} class={`is-${state}`} />
            {named.has(id) && (
              <text x={place.x + (isLeft ? -11 : 11)} y={place.y + 4} text-anchor={isLeft ? 'end' : 'start'}>
                {name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name}
              </text>
            )}
          </a>
        );
      })}
    </svg>
  );
}
