/** Local days as times: `2026-11-17` begins at midnight where the reader is. */

/** The middle of a local day, in seconds: it lies on its day in every time zone of the chart. */
export const noonOf = (day: string): number => Date.parse(`${day}T12:00:00`) / 1000;

const midnight = (day: string, after: number): number => {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + after).getTime();
};

/** The first millisecond of a day, and the first one after the last day: as the API takes a time. */
export type Span = {
  readonly from: number;
  readonly to: number;
};

export const spanOf = (first: string, last = first): Span => ({
  from: midnight(first, 0),
  to: midnight(last, 1),
});
