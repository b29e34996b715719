import { compact, type JsonObject } from '../../core/json.ts';
import type { Library } from '../../core/library.ts';
import type { Records } from '../../core/records.ts';

/** The lessons that a turn was shown, and the recall decisions of its session until then. */
export async function explainTurn(
  id: string,
  records: Records,
  library: Library,
): Promise<JsonObject | undefined> {
  const turn = await records.turn(id);
  if (turn === undefined) return undefined;
  const choices = (await records.recalls(turn.session)).filter(({ at }) => at <= (turn.endedAt ?? Infinity));
  const described: JsonObject[] = [];
  for (const { at, fact } of choices) {
    if (fact.type !== 'lessons-recalled') continue;
    const text = fact.block === undefined ? undefined : await records.block(fact.block);
    described.push(
      compact({
        at: new Date(at).toISOString(),
        turn: fact.turn,
        why: fact.why,
        generation: fact.generation,
        domain: { ...fact.domain },
        engine: fact.engine,
        considered: fact.considered.map((one) => ({ ...one })),
        text,
      }),
    );
  }
  return {
    turn: id,
    session: turn.session,
    role: turn.role,
    generation: turn.generation,
    shown: turn.lessons.map((lesson) => ({ id: lesson, name: library.lesson(lesson)?.text.name ?? '' })),
    choices: described,
    ...(described.length === 0 ? { note: noteFor(turn.role) } : {}),
  };
}

const noteFor = (role: string): string =>
  role === 'aux'
    ? 'an auxiliary call (a title, a count, a summary) gets no lessons'
    : 'no recall: the library had no lesson in scope, or the decision was not recorded';
