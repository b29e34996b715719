import type { Log } from '../../base/log.ts';
import type { Caller } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ApiRouter } from '../../gateway/api-router.ts';
import { createApiRouter } from '../router/api-router.ts';
import { createFeed } from './feed.ts';
import { createPageLogin } from './login.ts';
import { createPageAnswers, type PageParts } from './page-answers.ts';
import { openPageFiles } from './page-files.ts';
import { openPageReads } from './page-reads.ts';

interface ServePageOptions
  extends Pick<PageParts, 'records' | 'lessons' | 'prices' | 'training' | 'adapt' | 'clients'> {
  readonly home: PageParts['home'];
  /** Where the record is. */
  readonly place: string;
  /** The valid owner key. */
  readonly owner: () => Caller | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly status: () => JsonObject;
  readonly log: Pick<Log, 'warn'>;
}

export interface ServedPage {
  /** Every route that is not for models. */
  readonly router: ApiRouter;
  /** The path that signs a browser in once; undefined when this build has no page. */
  newCode(): string | undefined;
  close(): Promise<void>;
}

/** The API and the page. Until a browser comes, nothing of the page runs. */
export function servePage(options: ServePageOptions): ServedPage {
  const { owner, clock, status, log } = options;
  const reads = openPageReads(options.place);
  const compare = openPageReads(options.place);
  const feed = createFeed({ reads, status, log });
  const login = createPageLogin({ clock, owner });
  const files = openPageFiles();
  const answers = createPageAnswers({
    ...options,
    compare,
    login,
    files,
    feed,
    reads,
    now: clock.now,
    monotonic: clock.monotonic,
  });
  return {
    router: createApiRouter({ answers, personOf: login.personOf, file: files.file }),
    newCode: () => (files.isBuilt() ? `/#code=${login.newCode().code}` : undefined),
    close: async () => {
      feed.close();
      await compare.close();
      await reads.close();
    },
  };
}
