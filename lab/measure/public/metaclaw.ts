import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { asArray, asObject, parseJson } from '../../../src/core/json.ts';
import type { TypedTurn } from '../memory/played-home.ts';
import type { PublicPerson, SaidSession } from './public-memory.ts';

const SCRIPT = fileURLToPath(new URL('../../../../lab/measure/public/metaclaw.py', import.meta.url));
const MOST_BYTES = 1024 * 1024 * 1024;

/** For each question the text of either way. */
interface MetaClawTexts {
  readonly skills: readonly string[];
  readonly memory: readonly string[];
}

/** What MetaClaw's own code puts into the prompts of a person's questions. `folder`: its unpacked wheel. */
export function askMetaClaw(
  folder: string,
  { sessions, questions }: PublicPerson,
  turnsOf: (session: SaidSession) => readonly TypedTurn[],
): MetaClawTexts {
  const asked = {
    sessions: sessions.map((session, at) => ({
      id: `s${at}`,
      turns: turnsOf(session).map(({ request, reply }) => ({ prompt: request.at(-1)?.content ?? '', reply })),
    })),
    questions: questions.map(({ text }) => text),
  };
  const out = execFileSync('python3', [SCRIPT, folder], {
    input: JSON.stringify([asked]),
    encoding: 'utf8',
    maxBuffer: MOST_BYTES,
  });
  const [found] = asArray(parseJson(out)).map(asObject);
  const textsOf = (way: 'skills' | 'memory'): readonly string[] => asArray(found?.[way]).map(String);
  return { skills: textsOf('skills'), memory: textsOf('memory') };
}
