import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useKeys } from '../lib/keys.ts';
import type { TableColumn } from './table.tsx';

interface RowsProps<T> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly TableColumn<T>[];
  readonly keyOf: (row: T) => string;
  readonly hrefOf: (row: T) => string;
  /** Called when the end comes near: there may be more to load. */
  readonly onEnd?: () => void;
  /** How many there are in all, where it is known. */
  readonly total?: number | undefined;
  /** Tells which row the keys j and k have chosen. */
  readonly onChosen?: (row: T) => void;
}

const NARROW = matchMedia('(max-width: 760px)');
const OVERSCAN = 8;

/**
 * A long table: only the rows in sight are in the document, so that a hundred thousand stay smooth. Each row has the same
 * height. j and k move, Enter follows the row's link.
 */
export function Rows<T>({ label, rows, columns, keyOf, hrefOf, onEnd, total, onChosen }: RowsProps<T>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [chosen, setChosen] = useState(-1);
  // Two keys may come before the next rendering.
  const place = useRef(-1);
  const height = useRowHeight();
  const [first, last] = useRowsInSight(body, height);
  const isMoving = useRef(false);

  useEffect(() => {
    if (last >= rows.length - OVERSCAN) onEnd?.();
  }, [last, rows.length, onEnd]);

  const move = (step: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, place.current + step));
    const row = rows[next];
    if (row === undefined || body.current === null) return;
    isMoving.current = true;
    place.current = next;
    setChosen(next);
    onChosen?.(row);
    const top = body.current.getBoundingClientRect().top + next * height;
    if (top < 80) scrollBy(0, top - 80);
    else if (top + height > innerHeight - 40) scrollBy(0, top + height - innerHeight + 40);
  };
  useKeys({ j: () => move(1), k: () => move(-1) });

  // The chosen row may come into the document with the next range.
  useEffect(() => {
    if (!isMoving.current) return;
    const link = body.current?.querySelector<HTMLElement>(`[data-row="${place.current}"] a`);
    if (link === null || link === undefined) return;
    link.focus({ preventScroll: true });
    isMoving.current = false;
  }, [chosen, first, last]);

  const shown = rows.slice(first, last);
  const after = Math.max(0, rows.length - last);
  return (
    <table class="table rows" aria-rowcount={(total ?? rows.length) + 1}>
      <caption class="visually-hidden">{label}</caption>
      <thead>
        <tr aria-rowindex={1}>
          {columns.map(({ head, is }) => (
            <th key={head} scope="col" class={is}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {first > 0 && <Spacer height={first * height} />}
        {shown.map((row, index) => (
          <tr
            key={keyOf(row)}
            data-row={first + index}
            aria-rowindex={first + index + 2}
            class={first + index === chosen ? 'is-chosen' : undefined}
            onFocusIn={() => {
              if (isMoving.current || first + index === chosen) return;
              place.current = first + index;
              setChosen(first + index);
              onChosen?.(row);
            }}
          >
            {columns.map(({ head, is, cell }, column) => (
              <td key={head} class={is}>
                {column === 0 ? (
                  <a class="row-link" href={hrefOf(row)}>
                    {cell(row)}
                  </a>
                ) : (
                  cell(row)
                )}
              </td>
            ))}
          </tr>
        ))}
        {after > 0 && <Spacer height={after * height} />}
      </tbody>
    </table>
  );
}

/** The rows in sight, and some more: from, to. */
function useRowsInSight(body: RefObject<HTMLElement | null>, height: number): readonly [number, number] {
  const [range, setRange] = useState<readonly [number, number]>([0, 40]);
  useLayoutEffect(() => {
    const measure = (): void => {
      if (body.current === null) return;
      const top = -body.current.getBoundingClientRect().top;
      const from = Math.max(0, Math.floor(top / height) - OVERSCAN);
      const to = Math.ceil((top + innerHeight) / height) + OVERSCAN;
      setRange((old) => (old[0] === from && old[1] === to ? old : [from, to]));
    };
    measure();
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, [height]);
  return range;
}

function Spacer({ height }: { readonly height: number }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: an empty row that nothing can focus
    <tr aria-hidden="true" class="spacer">
      <td style={{ height: `${height}px` }} />
    </tr>
  );
}

/** As in the style sheet: rows have a second line on narrow screens. */
function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(NARROW.matches);
  useEffect(() => {
    const read = (): void => setNarrow(NARROW.matches);
    NARROW.addEventListener('change', read);
    return () => NARROW.removeEventListener('change', read);
  }, []);
  return isNarrow ? 60 : 36;
}
