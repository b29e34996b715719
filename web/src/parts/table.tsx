import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface TableColumn<T> {
  readonly head: string;
  readonly cell: (row: T) => ComponentChildren;
  /** `number` is aligned right; `wide` is left out of long tables on narrow screens; `fill` takes the rest of the width; `bare` has a heading for screen readers only. */
  readonly is?: string;
}

interface TableProps<T> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly TableColumn<T>[];
  readonly keyOf: (row: T) => string | number;
}

/** A table of a few rows. Longer ones: `Rows`. */
export function Table<T>({ label, rows, columns, keyOf }: TableProps<T>) {
  const holder = useRef<HTMLDivElement>(null);
  const [isWider, setWider] = useState(false);
  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const measure = new ResizeObserver(() => setWider(element.scrollWidth > element.clientWidth));
    measure.observe(element);
    return () => measure.disconnect();
  }, []);
  return (
    // What scrolls can be scrolled by keys, too.
    <div class="table-scroll" ref={holder} {...(isWider ? { tabIndex: 0 } : {})}>
      <table class="table">
        <caption class="visually-hidden">{label}</caption>
        <thead>
          <tr>
            {columns.map(({ head, is }) => (
              <th key={head} scope="col" class={is}>
                {is?.includes('bare') === true ? <span class="visually-hidden">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ head, is, cell }) => (
                <td key={head} class={is} data-head={is?.includes('bare') === true ? undefined : head}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
