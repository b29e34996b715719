import { expect } from 'vitest';
import type { Fact } from '../../../src/core/fact.ts';
import type { Author, Change, LessonKind } from '../../../src/core/lesson.ts';
import { end, start } from '../../record/store/facts.ts';
import type { Action, Outcome, Policy, Pool } from './actions.ts';
import {
  advanceIn,
  appraiseIn,
  citeIn,
  eraseIn,
  isSupport,
  type Model,
  type ModelTurn,
  serveIn,
  visible,
} from './model.ts';
import { append, type Fate, follow, restart, trainableIn, type World } from './world.ts';

export type Count = (what: string, times?: number) => void;

interface Scene {
  readonly model: Model;
  readonly world: World;
  readonly action: Action;
  readonly count: Count;
}

/** One thing that is written, whole or not at all. */
type Write = () => Promise<void>;

const learner: Author = { kind: 'learner', name: 'evolver' };
const person: Author = { kind: 'person', name: 'ada' };

/** Does what the action says to the world and to the model. Where it is cut off the process dies, and starts again. */
export async function act(scene: Scene): Promise<void> {
  const { action, world, count } = scene;
  const writes = writesOf(scene);
  const { cut } = action;
  count(action.do);
  for (const write of writes.slice(0, cut)) await write();
  if (cut === undefined && action.do !== 'kill') return follow(world);
  if (cut !== undefined && cut > 0 && cut < writes.length) count(`${action.do} cut off`);
  await restart(world);
}

function writesOf(scene: Scene): readonly Write[] {
  const { action, model, world } = scene;
  switch (action.do) {
    case 'serve':
      return serve(scene, `s${action.session}`, action.outcome);
    case 'appraise': {
      const turn = at(poolOf(model, action.among), action.turn);
      return turn === undefined ? [] : [() => appraise(scene, turn, action.outcome)];
    }
    case 'evolve':
      return evolve(scene, action.turns, action.isShown, action.policy);
    case 'person':
      return change(scene, action.what, action.turn, action.policy);
    case 'roll-back': {
      const set = world.library.rollback(at(world.library.generations(), action.to)?.generation ?? 0, person);
      return set === undefined ? [] : [() => publish(scene, person, set.changes, action.policy, [])];
    }
    case 'erase':
      return [() => erase(scene, `s${action.session}`)];
    case 'kill':
      return [];
  }
}

function poolOf(model: Model, among: Pool): readonly ModelTurn[] {
  if (among === 'held') return model.places;
  if (among === 'open') return model.turns.filter(({ verdict }) => verdict === undefined);
  return among === 'erased' ? model.turns.filter(({ isErased }) => isErased) : model.turns;
}

const at = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(1, list.length)];

function serve(scene: Scene, session: string, outcome: Outcome | 'open'): readonly Write[] {
  const { model, world } = scene;
  const id = `t${world.store.totals().turns}`;
  let served: ModelTurn | undefined;
  const writes: Write[] = [
    async () => {
      const { generation } = world.library;
      append(world, { at: 1_000, fact: start(id, session, { generation }) });
      served = serveIn(model, id, session, generation);
    },
    async () => void append(world, { at: 1_001, fact: end(id) }),
  ];
  if (outcome !== 'open')
    writes.push(async () => (served === undefined ? undefined : appraise(scene, served, outcome)));
  return writes;
}

async function appraise(
  { model, world, action, count }: Scene,
  turn: ModelTurn,
  said: Outcome,
): Promise<void> {
  const isGood = said === 'rewarded' || said === 'unrewarded';
  const verdict = isGood ? 'success' : said;
  const reward = said === 'rewarded' ? action.reward : said === 'failure' ? 0 : undefined;
  if (turn.verdict !== undefined) count('appraised again');
  if (said === 'rewarded') {
    if (isSupport(turn)) count('support called a success');
    else if (turn.certified !== model.generation) count('success of another generation');
    else if (turn.certified !== turn.generation) count('certified and rewarded again');
    else count('rewarded');
    if (turn.isErased) count('rewarded after erasing');
  }
  const fact: Fact = {
    type: 'turn-appraised',
    turn: turn.id,
    session: turn.session,
    scope: { agent: 'agent' },
    generation: turn.generation,
    verdict,
    ...(reward === undefined ? {} : { reward }),
    source: 'person',
    signals: [{ name: 'given', source: 'person', score: reward ?? 0.5, weight: 1, reason: 'said so' }],
    digests: [],
  };
  append(world, { at: 1_002, fact });
  if (model.places.length === model.cap) count('full');
  appraiseIn(model, turn, verdict, reward);
}

function evolve(scene: Scene, picks: readonly number[], isShown: boolean, policy: Policy): readonly Write[] {
  const { model, world } = scene;
  const failures = model.turns.filter(({ verdict }) => verdict === 'failure');
  // Live learning rests on successes beside failures.
  const pool = failures.length === 0 || picks.length === 1 ? model.turns : failures;
  const cited = [...new Set(picks.flatMap((pick) => at(pool, pick) ?? []))];
  const changes = [adding(world, 'skill', isShown ? 'trial' : 'proposed', cited)];
  const cycle = async (): Promise<void> => {
    const { generation } = world.library;
    const fact: Fact = {
      ...{
        type: 'cycle-end',
        cycle: 'c',
        learner: 'evolver',
        items: [],
        judgements: [],
        tookMs: 1,
        generation,
      },
      outcome: isShown ? 'published' : 'queued',
      turns: cited.map(({ id }) => id),
      cost: { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
    };
    append(world, { at: 1_004, fact });
    citeIn(model, cited);
  };
  return [() => publish(scene, learner, changes, policy, cited), cycle];
}

function change(scene: Scene, what: string, pick: number, policy: Policy): readonly Write[] {
  const { model, world } = scene;
  const cited = model.turns.filter((_, index) => index === pick % Math.max(1, model.turns.length));
  const shown = at(world.library.shown(0), pick);
  if (what !== 'retire' || shown === undefined) {
    const add = adding(world, 'skill', what === 'proposal' ? 'proposed' : 'live', cited);
    return [() => publish(scene, person, [add], policy, [])];
  }
  const retire: Change = { op: 'retire', id: shown.id, reason: 'no use' };
  return [() => publish(scene, person, [retire], policy, [])];
}

async function publish(
  scene: Scene,
  by: Author,
  changes: readonly Change[],
  policy: Policy,
  cited: readonly ModelTurn[],
): Promise<void> {
  const { model, world, action, count } = scene;
  const before = model.generation;
  const wasSeq = world.store.totals().facts;
  const held = visible(model);
  world.fault = action.fault;
  const fate = ({ turn }: { readonly turn: string }): Fate =>
    policy === 'strict' ? 'other' : (policy[Number(turn.slice(1)) % policy.length] ?? 'other');
  world.fateOf = policy === 'strict' ? undefined : fate;
  const set = { id: `set-${wasSeq}`, by, reason: 'drawn', changes };
  const isDone = await world.library.publish(set).then(
    () => true,
    () => false,
  );
  world.fault = 'none';
  if (!isDone) count(`publish: ${action.fault}`);
  const written = world.store.facts(wasSeq, 1)[0]?.fact;
  if (written?.type !== 'library-changed') return;
  const { generation } = written;
  // The fold has not been told yet: nothing may be trained on until it has.
  if (generation !== before) expect(trainableIn(world.samples, generation)).toEqual([]);
  // A change names no evidence that was erased: the store leaves it out.
  citeIn(model, by.kind === 'learner' ? cited.filter(({ isErased }) => !isErased) : []);
  const survivors = visible(model).filter(({ id }) => fate({ turn: id }) === 'same');
  advanceIn(model, generation, policy === 'strict' ? [] : survivors);
  follow(world);
  if (generation === before) return count('published without a new generation');
  const isKept = ({ id }: ModelTurn): boolean => survivors.some((one) => one.id === id);
  const kept = policy === 'strict' ? [] : held.filter(isKept);
  expect(world.samples.samples().map(({ turn }) => turn)).toEqual(kept.map(({ id }) => id));
  count(policy === 'strict' ? 'flushed: strict' : 'flushed: scoped');
  count('survived', kept.length);
  count('flushed out', held.length - kept.length);
}

async function erase({ model, world, count }: Scene, session: string): Promise<void> {
  if (world.store.session(session)?.erased) count('erased twice');
  count('samples erased', visible(model).filter((turn) => turn.session === session).length);
  const wasSeq = world.store.totals().facts;
  world.store.erase(session, 1_005, 'asked');
  // Lessons that rested on the session alone are retired with it.
  for (const { fact } of world.store.facts(wasSeq, 10)) {
    if (fact.type !== 'library-changed') continue;
    count('lessons erased', fact.changes.length);
    advanceIn(model, fact.generation, []);
  }
  eraseIn(model, session);
  follow(world);
  await world.reload();
}

function adding(
  world: World,
  kind: LessonKind,
  state: 'proposed' | 'trial' | 'live',
  cited: readonly ModelTurn[],
): Change {
  const name = `lesson-${world.store.totals().facts}`;
  const text = {
    ...{ name, description: `When ${name} is needed.`, content: name, scope: {}, taint: [] },
    note: {
      ...{ keywords: [], tags: [], importance: 0.5, confidence: 0.5, halfLifeDays: 60, links: [] },
      ...({ source: 'experience', visibility: 'scoped' } as const),
    },
    evidence: { turns: cited.map(({ id }) => id), quotes: [], learner: 'evolver' },
  };
  return { op: 'add', id: name, kind, state, text };
}
