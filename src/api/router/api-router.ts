import type { ApiRoute, ApiRouter } from '../../gateway/api-router.ts';
import { type AnswersTo, type RouteAnswer, toApiRoute } from './answer.ts';
import { ANSWERS } from './answers.ts';
import { PAGE_ROUTES } from './page-routes.ts';
import { type RouteShape, routeName } from './route-shape.ts';
import { ROUTES } from './routes.ts';

/** What serves the page; see `api/page/serve-page`. */
interface PageRouter extends Pick<ApiRouter, 'personOf' | 'file'> {
  readonly answers: AnswersTo<typeof PAGE_ROUTES>;
  /** What the page's threads answer in place of the daemon's. */
  readonly instead: InsteadAnswers;
}

export type InsteadAnswers = Partial<AnswersTo<typeof ROUTES>>;

/** All routes of the API. Without `page`, those of the page are not served. */
export function createApiRouter(page?: PageRouter): ApiRouter {
  const routes = new Map<string, ApiRoute>();
  const add = (shapes: Readonly<Record<string, RouteShape>>, answers: object): void => {
    for (const [name, shape] of Object.entries(shapes)) {
      const answer = (answers as Readonly<Record<string, RouteAnswer>>)[name];
      if (answer !== undefined) routes.set(routeName(shape), toApiRoute(shape, answer));
    }
  };
  add(ROUTES, { ...ANSWERS, ...page?.instead });
  if (page !== undefined) add(PAGE_ROUTES, page.answers);
  return {
    find: (method, path) => {
      const exact = routes.get(`${method} ${path}`) ?? routes.get(`${method} ${withVersion(path)}`);
      // `:id` alone is no id.
      if (exact !== undefined) return path.includes('/:id') ? undefined : { operation: exact, id: '' };
      const segments = path.split('/');
      const at = segments[2] === 'page' ? 4 : 3;
      const id = segments[at] ?? '';
      if (id === '') return undefined;
      const operation = routes.get(`${method} ${segments.with(at, ':id').join('/')}`);
      return operation && { operation, id: decode(id) };
    },
    personOf: (request) => page?.personOf(request),
    file: (path) => page?.file(path),
  };
}

/**
 * `/v1` may be missing or doubled in what clients report, as it may be in what they ask of models: an SDK puts its base URL before
 * the path, and people configure base URLs with it and without it.
 */
const withVersion = (path: string): string => path.replace(/^(?:\/v1)*(?=\/(?:feedback|events)$)/, '/v1');

function decode(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
