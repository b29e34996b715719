import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { containsPhrase } from '../../../src/text/contains-phrase.ts';
import { estimateTokens } from '../../../src/text/estimate-tokens.ts';
import { foldPhrase } from '../held-phrase.ts';
import { markdownTable } from '../markdown.ts';
import { openPlayedHome, type PlayedAnswer, type PlayedPlace } from './played-home.ts';

/*
 * Tasks that look back without a question mark ("same cache as last time please"), and messages of coding sessions that do not: what
 * their prompts gain from what was said in earlier sessions.
 */

const LINE = z.object({
  id: z.string().min(1),
  /** `said`: in an earlier session. `dev` was looked at while the rule was written, `test` was not. */
  kind: z.enum(['said', 'dev', 'test']),
  text: z.string().min(1),
  answer: z.string().min(1).optional(),
});
type Line = z.infer<typeof LINE>;

const linesOf = (file: string): readonly string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');

const MESSAGE = z.union([
  z.object({ text: z.string().min(1) }).transform(({ text }) => text),
  z.object({ message: z.string().min(1) }).transform(({ message }) => message),
]);

const BACK = 'lab/measure/memory/looking-back.jsonl';
/** Of these messages none is meant to gain anything. */
const CODING = ['memory/nothing', 'signals/words-dev', 'signals/words-test'].map(
  (name) => `lab/measure/${name}.jsonl`,
);

const FIRST_DAY = Date.UTC(2026, 0, 5, 9);
const DAY_MS = 86_400_000;

/** What the prompt of each message gains in a home where the others were said. */
async function askAll(
  place: PlayedPlace,
  { said, asked }: { readonly said: readonly string[]; readonly asked: readonly string[] },
  embed: EmbeddingModel,
): Promise<readonly PlayedAnswer[]> {
  const home = await openPlayedHome(embed, FIRST_DAY);
  try {
    for (const [nth, content] of said.entries())
      await home.play({
        session: `said ${nth}`,
        at: FIRST_DAY + nth * DAY_MS,
        turns: [{ request: [{ role: 'user', content }], reply: 'Okay.' }],
        ...place,
      });
    const at = FIRST_DAY + said.length * DAY_MS;
    const answers: PlayedAnswer[] = [];
    for (const [nth, text] of asked.entries())
      answers.push(await home.ask({ session: `asked ${nth}`, text, at, ...place }));
    return answers;
  } finally {
    await home.close();
  }
}

const PERSONAL: PlayedPlace = { agent: 'assistant' };
const PROJECT: PlayedPlace = { ...PERSONAL, project: 'work' };

const quotedText = ({ quotes }: PlayedAnswer): string => quotes.map(({ text }) => text).join('\n');

/** The tables, and a line for each message that went wrong. */
export async function measureLookingBack(
  embed: EmbeddingModel,
): Promise<{ readonly text: string; readonly wrong: readonly string[] }> {
  const lines = linesOf(BACK).map((line): Line => LINE.parse(JSON.parse(line)));
  const said = lines.filter(({ kind }) => kind === 'said').map(({ text }) => text);
  const asked = lines.filter(({ kind }) => kind !== 'said');
  const wrong: string[] = [];
  const cells = new Map<string, number>();
  for (const [name, place] of [
    ['no project', PERSONAL],
    ['project', PROJECT],
  ] as const) {
    const answers = await askAll(place, { said, asked: asked.map(({ text }) => text) }, embed);
    for (const [nth, { id, kind, text, answer = '' }] of asked.entries()) {
      const played = answers[nth];
      if (played === undefined) continue;
      const isFound = containsPhrase(foldPhrase(quotedText(played)), foldPhrase(answer));
      const key = `${name} ${kind}`;
      cells.set(key, (cells.get(key) ?? 0) + Number(isFound));
      if (!isFound) wrong.push(`- ${id}, ${name}: ${played.isAsked ? 'not found' : 'not seen'}: ${text}`);
    }
  }
  const countOf = (kind: string): number => asked.filter((one) => one.kind === kind).length;
  const rows = (['dev', 'test'] as const).map((kind) => [
    kind,
    ...['no project', 'project'].map((name) => `${cells.get(`${name} ${kind}`) ?? 0} of ${countOf(kind)}`),
  ]);
  const gained = await measureCoding(embed);
  return {
    text: [markdownTable(['answer quoted', 'no project', 'project'], rows), gained.text].join('\n\n'),
    wrong: [...wrong, ...gained.wrong],
  };
}

/** Half of the messages were said before, and the other half is asked; then the other way round. */
async function measureCoding(
  embed: EmbeddingModel,
): Promise<{ readonly text: string; readonly wrong: readonly string[] }> {
  const wrong: string[] = [];
  const rows: string[][] = [];
  for (const file of CODING) {
    const messages = linesOf(file).map((line) => MESSAGE.parse(JSON.parse(line)));
    const halves = [0, 1].map((half) => messages.filter((_, nth) => nth % 2 === half));
    let [asked, quoted, tokens] = [0, 0, 0];
    for (const half of [0, 1]) {
      const some = halves[half] ?? [];
      const answers = await askAll(PROJECT, { said: halves[1 - half] ?? [], asked: some }, embed);
      for (const [nth, played] of answers.entries()) {
        asked += Number(played.isAsked);
        quoted += Number(played.quotes.length > 0);
        tokens += estimateTokens(quotedText(played));
        if (played.quotes.length > 0) wrong.push(`- gained: ${some[nth]} → ${quotedText(played)}`);
        else if (played.isAsked) wrong.push(`- searched: ${some[nth]}`);
      }
    }
    const mean = (tokens / Math.max(1, messages.length)).toFixed(2);
    rows.push([file, String(messages.length), String(asked), String(quoted), mean]);
  }
  return { text: markdownTable(['coding', 'messages', 'searched', 'quoted', 'tokens, mean'], rows), wrong };
}
