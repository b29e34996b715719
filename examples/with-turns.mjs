/**
 * For frameworks that hide the headers of replies: a `fetch` that names the session, if it has a name, and remembers the
 * newest turn, so that feedback can name it.
 */
export function withTurns({ url, apiKey, session }) {
  let turn;
  return {
    fetch: async (input, init = {}) => {
      const headers = new Headers(init.headers);
      if (session !== undefined) headers.set('x-instar-session', session);
      const response = await fetch(input, { ...init, headers });
      turn = response.headers.get('x-instar-turn') ?? turn;
      return response;
    },
    feedback: async (score, note) => {
      const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ turn, score, note });
      const saved = await fetch(`${url}/v1/feedback`, { method: 'POST', headers, body });
      if (!saved.ok) throw new Error(await saved.text());
    },
  };
}
