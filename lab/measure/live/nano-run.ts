import { createNanoTemplate } from '../../../nano/policy/nano-template.ts';
import { readNano } from '../../../nano/shipped-policy.ts';
import { createRandom } from '../../../src/base/random.ts';
import type { ChatRequest } from '../../../src/core/chat.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Sampler } from '../../../src/core/training.ts';
import { type HintedRollout, hindsightOf } from '../../../src/train/hindsight.ts';
import { hintOf, withHint } from '../../../src/train/hint.ts';
import { DEFAULT_GUARD } from '../../../src/train/reward-guard.ts';
import { createMemoryJournal, openRunLog } from '../../../src/train/run-journal.ts';
import { DEFAULT_STEP, trainStep } from '../../../src/train/step.ts';
import { connectTinker } from '../../../src/train/tinker/connect-tinker.ts';
import type { TinkerEngine } from '../../../src/train/tinker/tinker-engine.ts';
import { drawRuleOf, formsOf } from '../../workdays/rules/draw-rules.ts';
import type { HouseRule } from '../../workdays/rules/rule-set.ts';
import type { Split } from '../../workdays/world.ts';
import { startEngineProcess } from '../nano/rl/engine-process.ts';
import { judgeTrial } from '../obedience/judge-trial.ts';
import { aloneTrials, type Telling, type Trial } from '../obedience/make-trials.ts';

/** What the teacher reads besides the student's prompt. `shuffled`: the words of a correction of another rule. */
export type NanoArm = 'corrections' | 'shuffled' | 'lesson';

export interface NanoSettings {
  readonly seed: number;
  readonly steps: number;
  readonly batch: number;
  readonly heldOut: number;
  readonly rate: number;
  readonly say: (line: string) => void;
}

export interface ObedienceCount {
  readonly obeyed: number;
  readonly done: number;
  readonly of: number;
}

interface TaskTellings {
  readonly rule: HouseRule;
  readonly of: ReadonlyMap<Telling, Trial>;
}

/** Tasks of a split in which the rule applies, with the ways in which it can be told. */
function tasksFor(rule: HouseRule, name: string, count: number, split: Split): readonly TaskTellings[] {
  const tasks: TaskTellings[] = [];
  for (let part = 0; tasks.length < count && part < 20; part++) {
    const trials = aloneTrials('seen', rule, `${name}/${part}`, 20, split);
    const byTask = new Map<string, Map<Telling, Trial>>();
    for (const trial of trials) {
      const known = byTask.get(trial.question.text) ?? new Map<Telling, Trial>();
      byTask.set(trial.question.text, known.set(trial.condition, trial));
    }
    tasks.push(...[...byTask.values()].map((of) => ({ rule, of })));
  }
  return tasks.slice(0, count);
}

export async function openNanoBench() {
  const { name, tokenizer } = await readNano();
  const template = createNanoTemplate(tokenizer);
  const host = await startEngineProcess();
  const engine: TinkerEngine = await connectTinker({
    url: host.url,
    key: host.key,
    baseModel: name,
    profile: 'nano',
    losses: ['importance_sampling', 'cross_entropy'],
    fetch,
    clock: systemClock,
    random: createRandom(`bench/${Date.now()}`),
  });
  const { signal } = new AbortController();
  const render = (request: ChatRequest): readonly number[] => {
    const rendered = template.render(request);
    if (rendered.is !== 'prompt') throw new Error('a task that the policy does not take for one');
    return rendered.tokens;
  };
  const sampleOne = async (
    sampler: Sampler,
    prompt: readonly number[],
    seed: number,
    temperature: number,
  ) => {
    const ask = {
      prompt,
      count: 1,
      maxTokens: template.longestReply,
      temperature,
      stop: template.stop,
      seed,
    };
    const [one] = await sampler.sample(ask, signal);
    if (one === undefined) throw new Error('the engine returned no sample');
    return one;
  };
  const trialOf = ({ of }: TaskTellings, telling: Telling): Trial => {
    const trial = of.get(telling);
    if (trial === undefined) throw new Error(`a task is not told by ${telling}`);
    return trial;
  };

  /** Obedience on held-out tasks, sampled at T = 1, told in this way. */
  const measure = async (
    weights: string | undefined,
    tasks: readonly TaskTellings[],
    telling: Telling,
  ): Promise<ObedienceCount> => {
    const sampler = await engine.openSampler(weights);
    const count = { obeyed: 0, done: 0, of: 0 };
    for (const [at, task] of tasks.entries()) {
      const trial = trialOf(task, telling);
      const { tokens } = await sampleOne(sampler, render(trial.request), at, 1);
      const outcome = await judgeTrial(trial, tokens, tokenizer);
      count.of++;
      if (outcome.isDone) count.done++;
      if (outcome.isDone && outcome.obeyed.length > 0) count.obeyed++;
    }
    await sampler.close();
    return count;
  };

  const run = async (arm: NanoArm, settings: NanoSettings) => {
    const { seed, steps, batch, say } = settings;
    const rule = ruleOf(seed);
    const strangers = [1, 2].map((off) => ruleOf(seed + off));
    const train = tasksFor(rule, `live/${seed}/train`, steps * batch, 'train');
    const others = strangers.flatMap((other) => tasksFor(other, `live/${seed}/${other.id}`, batch, 'train'));
    const heldOut = tasksFor(rule, `live/${seed}/report`, settings.heldOut, 'report');
    say(`  seed ${seed}, ${arm}: ${rule.title}; ${train.length} tasks, ${heldOut.length} held out`);
    const model = await engine.createModel({ rank: 8, seed });
    const log = await openRunLog(createMemoryJournal(), DEFAULT_GUARD);
    const first = `live-${arm}-${seed}`;
    const state = await model.saveState(first);
    await log.append({
      type: 'run-begun',
      checkpoint: { version: 0, state, sampler: await model.saveForSampler(first) },
    });
    const teacher = process.env.TEACHER === 'start' ? await engine.openModel(state) : model;
    const firstSampler = log.run.lineage[0]?.sampler;
    const random = createRandom(`live/${arm}/${seed}`);
    for (let step = 0; step < steps; step++) {
      const { version, sampler: path } = log.run.lineage.at(-1) ?? { version: 0, sampler: '' };
      const sampler = await engine.openSampler(path);
      const taughtBy = process.env.TEACHER === 'start' ? await engine.openSampler(firstSampler) : sampler;
      const distilled: HintedRollout[] = [];
      let obeyed = 0;
      const t0 = Date.now();
      const attempt = async (at: number): Promise<readonly HintedRollout[]> => {
        const task = train[(step * batch + at) % train.length];
        if (task === undefined) return [];
        const asked = trialOf(task, 'none');
        const prompt = render(asked.request);
        const one = await sampleOne(sampler, prompt, random.below(2 ** 31), 1);
        const outcome = await judgeTrial(asked, one.tokens, tokenizer);
        if (outcome.obeyed.length > 0) obeyed++;
        // People correct what is wrong; a lesson's teacher reads its block in any case.
        if (arm !== 'lesson' && outcome.obeyed.length > 0) return [];
        const stamp = { policy: version, generation: 0 };
        const teller = arm === 'shuffled' ? others[random.below(others.length)] : task;
        const hint = teller && hintOf([notesIn(trialOf(teller, 'notes').request)]);
        const hinted = render(
          arm === 'lesson' ? trialOf(task, 'quote').request : withHint(asked.request, hint ?? ''),
        );
        const made = (id: string, { tokens, logprobs }: typeof one, isTaught: boolean): HintedRollout => ({
          isTaught,
          rollout: {
            id,
            task: `${step}/${at}`,
            segments: [
              { kind: 'prompt', ids: prompt, ...stamp },
              { kind: 'reply', ids: tokens, logprobs, ...stamp },
            ],
            reward: 0,
            rewardSource: 'person',
          },
          hinted: [hinted],
        });
        const id = `${first}/${step}/${at}`;
        const mode = process.env.TAUGHT ?? '2';
        return [
          ...(mode !== '1' ? [made(id, one, false)] : []),
          ...(mode !== '0'
            ? [made(`${id}/taught`, await sampleOne(taughtBy, hinted, random.below(2 ** 31), 1), true)]
            : []),
        ];
      };
      distilled.push(...(await Promise.all(Array.from({ length: batch }, (_, at) => attempt(at)))).flat());
      const t1 = Date.now();
      for (const kind of [true, false]) {
        const raw = await hindsightOf(
          distilled.filter((d) => d.isTaught === kind),
          { model, teacher },
          engine.profile,
          { clip: 100 },
          signal,
        );
        const far = raw
          .flatMap(({ ofTokens = [], rollout }) =>
            ofTokens.flatMap((row) =>
              row.map((gap, i) => ({ gap, own: (rollout.segments[1] as any).logprobs[i] })),
            ),
          )
          .filter(({ gap }) => Math.abs(gap) > 1);
        const mean = (v: number[]) => (v.reduce((a, b) => a + b, 0) / Math.max(1, v.length)).toFixed(2);
        say(
          `taught ${kind}: ${raw.length} rollouts, up ${far.filter((f) => f.gap > 0).length} mean ${mean(far.filter((f) => f.gap > 0).map((f) => f.gap))} own ${mean(far.filter((f) => f.gap > 0).map((f) => f.own))}; down ${far.filter((f) => f.gap < 0).length} mean ${mean(far.filter((f) => f.gap < 0).map((f) => f.gap))}`,
        );
      }
      await sampler.close();
      const end = await trainStep({
        batch: { id: `${first}/${step}`, groups: [], distilled },
        model,
        teacher,
        profile: engine.profile,
        log,
        generation: 0,
        learningRate: settings.rate * (1 - (0.9 * step) / steps),
        settings: { ...DEFAULT_STEP, size: 1 },
        signal,
      });
      say(`sampling ${t1 - t0} training ${Date.now() - t1}`);
      if (end.end === 'refused') say(`  refused: ${end.refusal.why}`);
      if (step % 3 === 0 || step === steps - 1)
        say(`    step ${step + 1}: ${end.end}, ${distilled.length} hinted, ${obeyed} of ${batch} obeyed`);
    }
    const weights = log.run.lineage.at(-1)?.sampler;
    await model.close();
    return { rule, heldOut, weights, train };
  };
  const tokensSaved = (tasks: readonly TaskTellings[]): number =>
    tasks.reduce(
      (sum, task) =>
        sum + render(trialOf(task, 'quote').request).length - render(trialOf(task, 'none').request).length,
      0,
    ) / Math.max(1, tasks.length);
  return {
    run,
    measure,
    tokensSaved,
    close: async () => {
      await engine.close();
      await host.close();
    },
  };
}

const FORMS = ['title-suffix', 'person-prefix', 'amount-unit-first'];
function ruleOf(seed: number): HouseRule {
  const name = FORMS[seed % FORMS.length];
  const form = formsOf('seen').find((one) => one.name === name);
  if (form === undefined) throw new Error(`there is no form ${name}`);
  return { ...drawRuleOf(form, 'seen', `live/${seed}`), since: 0 };
}

/** The line of notes that a request tells the rule by. */
const notesIn = ({ system }: ChatRequest): string =>
  /^- (.+)$/m.exec(system.map(({ text }) => text).join('\n'))?.[1] ?? '';
