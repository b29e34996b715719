const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?\+08:00$/;

/** The one way in which the house writes a time: `2026-03-16T09:30:00+08:00`, with or without parts of a second. */
export const isTimestamp = (value: unknown): value is string =>
  typeof value === 'string' && TIMESTAMP.test(value);
