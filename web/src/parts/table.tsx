import type { ComponentChildren } from 'preact';

export interface TableColumn<T> {
  readonly head: string;
  readonly cell: (row: T) => ComponentChildren;
  /** `number` is aligned right; `wide` is left out on narrow screens; `fill` takes the rest of the width; `bare` has a heading for screen readers only. */
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
  return (
    <div class="table-scroll">
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
                <td key={head} class={is}>
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
