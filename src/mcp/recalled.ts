import type { JsonObject } from '../core/json.ts';
import type { Recollection } from './episode-desk.ts';

export const recalledData = ({ text, lessons }: Recollection): JsonObject => ({
  lessons: text,
  ids: lessons.map(({ id }) => id),
});

export const recalledText = ({ text }: Recollection): string =>
  text === '' ? 'No lessons for this task yet.' : text;
