import { compact } from '../../core/json.ts';
import type { ServedLibrary } from '../library/serve-library.ts';
import type { Shortening } from './serve-shortening.ts';

type Lessons = ServedLibrary['lessons'];

/** Adds the shortened prompt to a turn's lessons, where shortening is configured. */
export const withShorter = (lessons: Lessons, shortening: Shortening | undefined): Lessons =>
  shortening === undefined
    ? lessons
    : async (turn) => {
        const [shown, shortened] = await Promise.all([lessons(turn), shortening.shorten(turn)]);
        return compact({ ...shown, shortened });
      };
