import { createText } from '../gateway/traffic.ts';
import { readUsedWork, sumOf, workBetween } from '../pace/paced-process.ts';
import { type PacedSubject, startPacedInstar, startPacedPassThrough } from '../pace/paced-subjects.ts';
import { type PacedTurn, replyOf } from '../pace/person-day.ts';
import { playDay } from '../pace/play-day.ts';

/** What the last turns of a conversation of this length cost one subject. CPU in milliseconds, of all threads. */
export interface SessionCost {
  readonly subject: string;
  readonly turns: number;
  /** Bytes of the last request. */
  readonly bytes: number;
  /** The mean of the last turns. */
  readonly turnCpu: number;
  readonly threads: Readonly<Record<string, number>>;
  readonly turnKb: number;
  /** Of the last turn alone, with which the session ends. */
  readonly endCpu: number;
  readonly lost: number;
}

/** The turns whose cost is read, before the last. */
const WINDOW = 8;
const MESSAGE_BYTES = 800;
const WARM_TURNS = 40;

/** One conversation of each length, whole in every request as agents send it, to Instar and the pass-through in turn. */
export async function measureSessions(
  main: string,
  upstreamPort: number,
  lengths: readonly number[],
  nodeArgs: readonly string[] = [],
): Promise<readonly SessionCost[]> {
  const subjects = [
    await startPacedInstar({ name: 'instar', main, upstreamPort, isRecorded: true, nodeArgs }),
    await startPacedInstar({ name: 'record off', main, upstreamPort, isRecorded: false }),
    await startPacedPassThrough(upstreamPort),
  ];
  try {
    for (const subject of subjects) await playSession(subject, 'warm', WARM_TURNS);
    const found: SessionCost[] = [];
    for (const turns of lengths)
      for (const subject of subjects) found.push(await playSession(subject, `long-${turns}`, turns));
    return found;
  } finally {
    for (const subject of subjects) await subject.close();
  }
}

async function playSession(subject: PacedSubject, session: string, turns: number): Promise<SessionCost> {
  const { pid, threads, name } = subject;
  const next = createLongSession(session, turns);
  let lost = 0;
  let bytes = 0;
  const play = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) {
      const turn = next();
      bytes = turn.body.length;
      const [played] = await playDay([turn], subject, 0, 0);
      if (played?.isWhole !== true) lost++;
    }
    await subject.idle();
  };
  const measured = async (count: number) => {
    const before = readUsedWork(pid, threads);
    await play(count);
    return workBetween(before, readUsedWork(pid, threads));
  };
  const window = Math.min(WINDOW, turns - 1);
  await play(turns - 1 - window);
  const used = await measured(window);
  const end = await measured(1);
  return {
    subject: name,
    turns,
    bytes,
    turnCpu: sumOf(used.cpu) / window,
    threads: Object.fromEntries([...used.cpu].map(([thread, ms]) => [thread, ms / window])),
    turnKb: sumOf(used.written) / 1000 / window,
    endCpu: sumOf(end.cpu),
    lost,
  };
}

/** A person's message or a tool's result in every turn, as the answer before it asks for. */
function createLongSession(session: string, turns: number): () => PacedTurn {
  // Each length has texts of its own: what another session said is not stored again.
  const number = turns;
  const words = createText(number);
  const messages: object[] = [{ role: 'system', content: `You are a coding agent. ${words(6000)}` }];
  let nth = 0;
  return () => {
    const text = `${words(MESSAGE_BYTES)} [turn ${number}.${nth}]`;
    const before = nth === 0 ? undefined : replyOf(number, nth - 1);
    if (before !== undefined) {
      const calls = before.call && [
        {
          id: before.call.id,
          type: 'function',
          function: { name: before.call.name, arguments: before.call.arguments },
        },
      ];
      const made = calls === undefined ? {} : { tool_calls: calls };
      messages.push({ role: 'assistant', content: before.text, ...made });
    }
    messages.push(
      before?.call === undefined
        ? { role: 'user', content: text }
        : { role: 'tool', tool_call_id: before.call.id, content: text },
    );
    const body = JSON.stringify({ model: 'pace', stream: true, messages });
    return { session, nth: nth++, isLast: nth === turns, at: 0, body };
  };
}
