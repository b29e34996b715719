import { workerModule } from '../../src/base/worker-thread.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { TaskSourceRef } from '../../src/core/task-source.ts';

/** The reading stage as a source that a plan can name. Its tables are large: only what draws tasks loads them. */
export const readingTasks = (options: JsonObject): TaskSourceRef => ({
  module: workerModule('./reading-source.ts', import.meta.url).href,
  options,
});
