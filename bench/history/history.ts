import type { Block, NewFact } from '../../src/core/store.ts';

const DAY_MS = 86_400_000;
const TURNS_PER_SESSION = 20;
const TEXT_BYTES = 800;
/** Prose and code compress about three to one; so do these. */
const WORDS =
  'the of to and a in is it you that he was for on are with as his they be at one have this from or had by hot but some what there we can out other were all your when up use word how said an each she which do their time if will way about many then them would write like so these her long make thing see him two has look more day could go come did my sound no most number who over know water than call first people may down side been now find const return import export function async await null undefined string number boolean interface readonly'.split(
    ' ',
  );

/** Turns spread evenly over the last year, in sessions of twenty, each with a new question and a new answer. */
export function createHistory(turns: number) {
  const start = Date.now() - 365 * DAY_MS;
  const step = (365 * DAY_MS) / turns;
  let n = 0;
  let seed = 1;
  const word = (): string => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return WORDS[seed % WORDS.length] ?? '';
  };
  const text = (kind: string): string => {
    let body = '';
    while (body.length < TEXT_BYTES) body += `${word()} `;
    return JSON.stringify({ kind, n, text: body });
  };
  const next = (count: number) => {
    const facts: NewFact[] = [];
    const blocks: Block[] = [];
    for (let i = 0; i < count; i++, n++) {
      const at = Math.round(start + n * step);
      const session = `s_${Math.floor(n / TURNS_PER_SESSION).toString(36)}`;
      const turn = `t_${n.toString(36).padStart(20, '0')}`;
      // The recorder's names for the bodies of a single turn.
      const [request, reply] = [`request:${turn}`, `reply:${turn}`];
      blocks.push(
        { hash: request, text: text('question'), session },
        { hash: reply, text: text('answer'), session },
      );
      const project = { id: `p${n % 7}`, label: 'shop' };
      const known = {
        agent: 'claude-code',
        role: 'main',
        wire: 'anthropic',
        model: 'claude-sonnet-5',
        generation: 3,
        policy: 'anthropic/claude-sonnet-5',
      } as const;
      facts.push(
        {
          at,
          fact: { type: 'turn-start', turn, session, project, ...known, lessons: [], request },
        },
        {
          at: at + 900,
          fact: {
            type: 'turn-end',
            turn,
            status: 'complete',
            httpStatus: 200,
            totalMs: 900,
            usage: { inputTokens: 9000, outputTokens: 300 },
            reply,
          },
        },
      );
    }
    return { facts, blocks };
  };
  return { start, next, textBytes: TEXT_BYTES };
}
