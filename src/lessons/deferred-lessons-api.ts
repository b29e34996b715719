import type { LessonsApi } from '../core/daemon-api.ts';

/** The API of a library that is opened, or may be missing, when it is asked. */
export const deferLessonsApi = (open: () => LessonsApi | Promise<LessonsApi>): LessonsApi => ({
  list: async (query) => (await open()).list(query),
  all: async () => (await open()).all(),
  show: async (idOrName) => (await open()).show(idOrName),
  why: async (turn) => (await open()).why(turn),
  today: async () => (await open()).today(),
  change: async (body) => (await open()).change(body),
  generations: async () => (await open()).generations(),
  review: async () => (await open()).review(),
  recall: async (query) => (await open()).recall(query),
  diff: async (from, to) => (await open()).diff(from, to),
  rollback: async (to) => (await open()).rollback(to),
});
