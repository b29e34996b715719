/** A fetch that loses responses: the request arrives, the response does not. */
export interface LossyFetch {
  readonly fetch: typeof fetch;
  /** The next response of this route is lost. */
  lose(route: string): void;
  readonly lost: number;
}

export function createLossyFetch(): LossyFetch {
  const routes = new Set<string>();
  let lost = 0;
  return {
    get lost() {
      return lost;
    },
    lose: (route) => routes.add(route),
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      const route = String(url).replace(/^.*\/api\/v1\//, '');
      if (!routes.delete(route)) return response;
      await response.arrayBuffer();
      lost++;
      throw new TypeError('fetch failed', { cause: new Error('the response was lost') });
    },
  };
}
