import { asArray, asObject, asString, compact, type JsonObject, parseJson } from '../../core/json.ts';
import { type Lesson, PROMPT_KINDS, type Quote } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { Records } from '../../core/store.ts';
import { describeTrial, isForOwner } from '../effect/describe-trial.ts';
import type { TrialRecord } from '../effect/fold-trials.ts';
import { originOf, quoteWords } from '../title.ts';
import { isPersonsWord } from '../told.ts';
import { closingOf } from './closed-by.ts';

type EvidenceRecords = Pick<Records, 'turn' | 'session' | 'block' | 'rewards'>;

/** The turns of this many pieces of evidence are looked at for a person's notes. */
const MOST_NOTED = 24;
/** Turns that are looked at for the label of their project. */
const MOST_LOOKED = 8;

/**
 * The evidence for a lesson: its quotes and what people said of its turns, each with its turn, its time and who said it.
 * Of an erased turn only the id would be left, which tells nobody anything.
 */
export async function readEvidence({ text }: Lesson, records: EvidenceRecords): Promise<JsonObject> {
  const { evidence } = text;
  const turns: string[] = [];
  for (const turn of evidence.turns) {
    const view = await records.turn(turn);
    if (view === undefined || (await records.session(view.session))?.erased !== true) turns.push(turn);
  }
  const quotes: JsonObject[] = [];
  for (const quote of evidence.quotes) quotes.push(await readQuote(quote, records));
  const known = new Set(quotes.map((quote) => quote.text));
  for (const turn of turns.slice(-MOST_NOTED))
    for (const { source, note, at: said } of await records.rewards({ turn })) {
      if (note === undefined || known.has(note) || (source !== 'person' && source !== 'verifier')) continue;
      known.add(note);
      quotes.push({
        turn,
        text: note,
        by: source === 'person' ? 'you' : 'a verifier',
        at: new Date(said).toISOString(),
      });
    }
  return { ...evidence, turns, quotes };
}

/** The quote that tells most about where a lesson comes from: a person's, else any that can still be read. */
export function leadingQuote({ quotes }: JsonObject): JsonObject | undefined {
  const readable = asArray(quotes)
    .map(asObject)
    .filter(({ text }) => text !== undefined);
  return (
    readable.find(({ by }) => by === 'you') ?? readable.find(({ by }) => by === 'a verifier') ?? readable[0]
  );
}

/** Where a lesson comes from: the recorded words of a person or a check, where there are any. */
export function describeOrigin(lesson: Lesson, evidence: JsonObject): string {
  const { by, text } = leadingQuote(evidence) ?? {};
  const words = asString(text);
  if (words === undefined || (by !== 'you' && by !== 'a verifier')) return originOf(lesson);
  return quoteWords(by === 'you' ? 'You' : 'A check', words);
}

/** A quote with its text from the record; without text when it was erased. */
async function readQuote(
  { turn, block, start, length }: Quote,
  records: Pick<Records, 'block' | 'turn'>,
): Promise<JsonObject> {
  const stored = await records.block(block);
  const text = stored && asString(parseJson(`"${stored.slice(start, start + length)}"`));
  if (text === undefined) return { turn };
  const view = await records.turn(turn);
  const by = view?.reply === block ? 'the agent' : speakerOf(parseJson(stored ?? ''));
  const at = view === undefined ? undefined : new Date(view.startedAt).toISOString();
  return compact({ turn, text, by, at });
}

/** Who said a recorded message; undefined when it does not tell. */
function speakerOf(message: unknown): string | undefined {
  const { role, content } = asObject(message);
  if (role === 'assistant') return 'the agent';
  if (role === 'tool') return 'a tool';
  if (role !== 'user') return undefined;
  const isTool = asArray(content).some((part) => asObject(part).type === 'tool_result');
  return isTool ? 'a tool' : 'you';
}

/** The label of the project that a lesson is for, by the sessions it was learned from; undefined when they do not tell. */
export async function projectLabel(
  { text }: Lesson,
  records: Pick<Records, 'turn' | 'session'>,
): Promise<string | undefined> {
  const { project } = text.scope;
  if (project === undefined) return undefined;
  for (const turn of text.evidence.turns.slice(0, MOST_LOOKED)) {
    const session = (await records.turn(turn))?.session;
    const known = session === undefined ? undefined : (await records.session(session))?.project;
    if (known?.id === project && known.label !== '') return known.label;
  }
  return undefined;
}

/** Who wrote a lesson's text. */
export function writtenBy({ text }: Lesson): string {
  const { learner, model } = text.evidence;
  if (model !== undefined) return model;
  if (learner === 'person') return 'you';
  if (learner === 'import') return 'a SKILL.md that was imported';
  if (learner === 'file') return 'a file in the skills folder';
  const from = text.overlay?.from;
  if (from !== undefined)
    return `Instar, from an event that ${from.matches} of other sessions support (score ${from.score}), without a model`;
  return 'Instar, in the words that were said, without a model';
}

/** Why a lesson is in its state, what it waits for, and the command that changes it. */
interface StateReason {
  readonly because: string;
  readonly fix?: string;
  /** What retired or rejected it. */
  readonly closedBy?: string;
  readonly since: string;
}

export function explainState(lesson: Lesson, library: Library, trial?: TrialRecord): StateReason {
  const { id, state, reason, text } = lesson;
  const closing = closingOf(lesson, library);
  if (closing !== undefined)
    return {
      because: closing.words,
      closedBy: closing.by,
      since: new Date(closing.at).toISOString(),
      ...(closing.undo === '' ? {} : { fix: closing.undo }),
    };
  const events = library.history(id);
  const entered = events[events.findLastIndex((event) => event.state !== state) + 1]?.at ?? lesson.createdAt;
  const since = new Date(entered).toISOString();
  if (state === 'proposed')
    return {
      because: `needs your decision${reason === undefined ? '' : `: ${reason}`}`,
      since,
      fix: `instar lessons keep ${text.name}`,
    };
  if (state === 'trial')
    return {
      because: `in use on trial: ${describeTrial(trial) ?? `it ${PROMPT_KINDS.has(lesson.kind) ? 'is shown' : 'acts'}, and its effect is measured`}${
        trial !== undefined && isForOwner(trial) ? '; it stays on trial until you decide' : ''
      }`,
      since,
      fix: `instar lessons keep ${text.name} --live`,
    };
  const because = isPersonsWord(lesson) ? 'You said it; nobody else ends it or changes its words' : 'in use';
  return { because, since, fix: `instar lessons drop ${text.name}` };
}
