import type { Log } from '../../base/log.ts';
import type { Home } from '../../config/home.ts';
import { readOwnerKey } from '../../config/owner-key.ts';
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
import { openSignIns } from './sign-ins.ts';
import { createSlowAnswers } from './slow-answers.ts';

interface ServePageOptions
  extends Pick<PageParts, 'records' | 'lessons' | 'prices' | 'training' | 'clients'> {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  /** Where the record is. */
  readonly place: string;
  /** The valid owner key. */
  readonly owner: () => Caller | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly status: () => JsonObject;
  readonly log: Pick<Log, 'warn'>;
}

interface ServedPage {
  /** Every route that is not for models. */
  readonly router: ApiRouter;
  /** The path that signs a browser in once; undefined when this build has no page. */
  newCode(): string | undefined;
  close(): Promise<void>;
}

/** The API and the page. Until a browser comes, nothing of the page runs. */
export function servePage(options: ServePageOptions): ServedPage {
  const { home, env, place, owner, clock, status, log } = options;
  const reads = openPageReads(place);
  const feed = createFeed({ reads, status, log });
  const kept = openSignIns({ file: home.signInsFile, key: () => ownerKeyOf(home, env), log });
  const login = createPageLogin({ clock, owner, kept });
  const files = openPageFiles();
  const { now, monotonic } = clock;
  const threads = { reads, now, monotonic };
  const answers = createPageAnswers({ ...options, ...threads, login, files, feed });
  const lessons = () => options.lessons()?.library.lessons() ?? [];
  const instead = createSlowAnswers({ ...threads, lessons });
  return {
    router: createApiRouter({ answers, instead, personOf: login.personOf, file: files.file }),
    newCode: () => (files.isBuilt() ? `/#code=${login.newCode().code}` : undefined),
    close: async () => {
      feed.close();
      await reads.close();
    },
  };
}

/** Undefined while it is protected, or cannot be read. */
function ownerKeyOf(home: Home, env: NodeJS.ProcessEnv): string | undefined {
  try {
    return readOwnerKey(home, env)?.key;
  } catch {
    return undefined;
  }
}
