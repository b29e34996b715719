import type { Budget } from '../core/budget.ts';
import type { ChatModel } from '../core/chat.ts';
import { compact } from '../core/json.ts';
import { type Ask, type EvidenceCase, NO_COST } from '../core/learn.ts';
import type { Records } from '../core/store.ts';
import { describeJudgeTest } from '../evidence/judge/judge-test.ts';
import { createAsk } from './ask.ts';
import { type LearningModel, type LearningRole, servedBy } from './learning-model.ts';
import type { LearningPorts } from './learning-ports.ts';
import type { LearningState } from './learning-state.ts';

/** A model and the way to ask it. */
export interface AskedModel {
  readonly ask: Ask;
  readonly model: string;
  /** It may be shown only sessions that this provider alone has served; see `LearningModel`. */
  readonly onlyFor?: string;
  /** Its server is on this machine or in a private network. */
  readonly isNear?: true;
}

/** The model that writes lessons, and what it may be shown: the words of a session go to no provider that nobody named for learning. */
export interface WriterAccess {
  /** Looked up for each run: a model may become available later. */
  model(): Promise<AskedModel | undefined>;
  /** Those of the cases that the model may be shown. */
  visibleCases<Case extends EvidenceCase>(
    model: AskedModel | undefined,
    cases: readonly Case[],
  ): Promise<readonly Case[]>;
  /** The model, when it may be shown this session. */
  askAbout(session: string): Promise<Ask | undefined>;
  /** The model, when it may be shown all of them. */
  askForAll(cases: readonly EvidenceCase[]): Promise<Ask | undefined>;
}

function createWriterAccess(records: Pick<Records, 'turns'>, model: WriterAccess['model']): WriterAccess {
  const mayRead = async ({ onlyFor }: AskedModel, session: string): Promise<boolean> => {
    if (onlyFor === undefined) return true;
    const turns = await records.turns(session);
    return turns.length > 0 && turns.every(({ policy }) => servedBy(policy) === onlyFor);
  };
  const visibleCases: WriterAccess['visibleCases'] = async (writer, cases) => {
    const visible = new Set<string>();
    for (const session of new Set(cases.map((one) => one.session)))
      if (writer !== undefined && (await mayRead(writer, session))) visible.add(session);
    return cases.filter(({ session }) => visible.has(session));
  };
  return {
    model,
    visibleCases,
    askAbout: async (session) => {
      const writer = await model();
      return writer !== undefined && (await mayRead(writer, session)) ? writer.ask : undefined;
    },
    askForAll: async (cases) => {
      const writer = await model();
      return (await visibleCases(writer, cases)).length === cases.length ? writer?.ask : undefined;
    },
  };
}

/** The models that learning asks, within the daily budget; none while learning is off. */
export interface AskedModels {
  of(role: LearningRole): Promise<AskedModel | undefined>;
  /** Asks the model that the owner named for the role, whichever it is at the time of the question. */
  named(role: keyof typeof MISSING): Ask;
  readonly writer: WriterAccess;
}

const MISSING = {
  judge: 'no judge model is configured: set models.judge',
  evolver: 'no learning model is configured: set models.evolver',
};
/** A prompt belongs to a session; which provider serves it is not known here. */
const NOT_NAMED = 'prompts are shortened only by a model that is named for learning: set models.evolver';

export function createAskedModels(
  { model: find, chat, records, clock, log }: LearningPorts,
  budget: Budget,
  state: LearningState,
): AskedModels {
  const of: AskedModels['of'] = async (role) => {
    const model = state.switch.isOn ? await find(role) : undefined;
    if (model === undefined) return undefined;
    const { name, price, onlyFor, isNear } = model;
    const journal = (note: string) => log.debug({ role }, note);
    const ask = createAsk({ model: chatOfRole(role, chat), name, price, budget, clock, journal });
    return { ask, model: name, ...compact({ onlyFor, isNear }) };
  };
  return {
    of,
    named: (role) => async (question, signal) => {
      const asked = await of(role);
      if (asked?.onlyFor !== undefined) return unanswered(NOT_NAMED);
      const test = role === 'judge' ? state.calibration.tested()?.test : undefined;
      if (test?.isPassed === false && test.model === asked?.model)
        return unanswered(`the judge ${test.model} is switched off: ${describeJudgeTest(test)}`);
      return asked?.ask(question, signal) ?? unanswered(MISSING[role]);
    },
    writer: createWriterAccess(records, () => of('evolver')),
  };
}

/** Finds the model of a role, with the way to call it. */
export const createRoleModels =
  ({ model: find, chat }: Pick<LearningPorts, 'model' | 'chat'>) =>
  async (role: LearningRole): Promise<(LearningModel & { readonly chat: ChatModel }) | undefined> => {
    const model = await find(role);
    return model && { ...model, chat: chatOfRole(role, chat) };
  };

/** The model of a role, by the one way to call it. */
export const chatOfRole = (role: LearningRole, chat: LearningPorts['chat']): ChatModel =>
  async function* (request, { signal }) {
    yield* await chat(role, request, signal);
  };

const unanswered = (why: string) => ({ ok: false, why, isRetryable: true, cost: NO_COST }) as const;
