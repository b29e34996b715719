import type { createTurnEncoder } from '../../src/record/turn-encoder.ts';

type Jobs = Parameters<ReturnType<typeof createTurnEncoder>['batch']>[0];

interface TurnAt extends Record<'turn' | 'session' | 'agent', string> {
  readonly at: number;
  readonly project?: { readonly id: string; readonly label: string };
}

/** What the gateway gives the recorder for one turn: these messages, and this reply a second later. */
export function turnJobs(
  { turn, session, agent, at, project }: TurnAt,
  messages: readonly object[],
  reply: string,
): Jobs {
  const bytes = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
  const message = { role: 'assistant', content: reply };
  const answered = bytes({ id: turn, model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] });
  return [
    {
      type: 'start',
      at,
      intent: {
        turn,
        session,
        agent,
        ...(project === undefined ? {} : { project }),
        role: 'main',
        wire: 'openai-chat',
        model: 'm',
        generation: 0,
        policy: 'own/m',
        lessons: [],
        caller: 'owner',
      },
      body: bytes({ model: 'm', messages }),
    },
    {
      type: 'end',
      at: at + 1_000,
      turn,
      session,
      wire: 'openai-chat',
      asked: 'own/m',
      outcome: { status: 'complete', httpStatus: 200, policy: 'own/m', totalMs: 900 },
      firstByteMs: 100,
      contentType: 'application/json',
      contentEncoding: undefined,
      replyBytes: answered.length,
      reply: answered,
    },
  ];
}
