import { compact } from '../../core/json.ts';
import type { ServedLibrary } from '../library/serve-library.ts';
import type { Shortening } from './serve-shortening.ts';

type Lessons = ServedLibrary['lessons'];

/** What a turn is shown, with its prompt made shorter where that is wanted. */
export const withShorter = (lessons: Lessons, shortening: Shortening | undefined): Lessons =>
  shortening === undefined
    ? lessons
    : async (turn) => {
        const [shown, shortened] = await Promise.all([lessons(turn), shortening.shorten(turn)]);
        return compact({ ...shown, shortened });
      };
