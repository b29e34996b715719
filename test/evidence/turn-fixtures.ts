import type { TurnEvidence } from '../../src/core/evidence.ts';

/** A turn with a plain answer; a test overrides what it is about. */
export function turnOf(more: Partial<TurnEvidence> = {}): TurnEvidence {
  return {
    turn: 't1',
    session: 's1',
    agent: 'app',
    role: 'main',
    status: 'complete',
    task: 'Rename the package',
    tools: [],
    reply: [{ type: 'text', text: 'The package is renamed.' }],
    stop: 'end',
    earlier: [],
    given: [],
    attempts: [],
    ...more,
  };
}

/** A turn with one call and its result. */
export function callOf(
  name: string,
  given: unknown,
  result?: string,
  more: Partial<TurnEvidence> & { readonly isError?: boolean } = {},
): TurnEvidence {
  const { isError, ...rest } = more;
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const outcome = { callId: 'c1', text: result ?? '', ...(isError === undefined ? {} : { isError }) };
  return turnOf({
    reply: [{ type: 'tool-call', id: 'c1', name, arguments: text }],
    stop: 'tool-calls',
    ...(result === undefined ? {} : { next: { tools: [outcome] } }),
    ...rest,
  });
}
