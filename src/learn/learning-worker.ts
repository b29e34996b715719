import { existsSync } from 'node:fs';
import { compact } from '../core/json.ts';
import { createPrices } from '../cost/prices.ts';
import { createVerifiers } from '../evidence/verifiers/registry.ts';
import { verifySession } from '../evidence/verify-session.ts';
import { createFlowWatch } from './adapt/flow-events.ts';
import { createObserver } from './adapt/observer.ts';
import { createPromptWriter } from './compress/write-prompt.ts';
import { createQuoteComparison } from './distiller/same-rule.ts';
import { openReflection } from './identity/reflect.ts';
import { openLearners } from './learners.ts';
import { startLearning } from './learning.ts';
import { openLearningParts } from './learning-parts.ts';
import type { LearningPorts, LearningSettings, LearningWorker } from './learning-ports.ts';
import { createRuleObserver } from './lesson-use/observe-rules.ts';
import { withMemory } from './memory/serve-memory.ts';
import { createReadQuotes } from './memory/working-memory.ts';
import { createIndexMessages } from './recollect/index-messages.ts';
import { createRunner, type WriteFacts } from './runner.ts';

/** Everything that learns, without its thread. Rejects when the record cannot be read. */
export async function startLearningWorker(
  settings: LearningSettings,
  ports: LearningPorts,
): Promise<LearningWorker> {
  const { records, hasSecret, clock, newId, log } = ports;
  const stop = new AbortController();
  const { signal } = stop;
  const parts = await openLearningParts(settings, ports);
  const { evidence, lessons, state, models, nearest, gate, practice, budget } = parts;
  const { library, effects } = lessons;
  const tasks = async () => (await practice?.requests()) ?? [];
  const learners = await openLearners({ settings, ports, evidence, lessons, models, nearest, tasks, signal });
  parts.folds.push(...learners.folds, ...(practice?.folds ?? []));
  const runner = createRunner({ library, gate, clock, newId, log, signal });
  const isKilled = (): boolean =>
    settings.adapt?.killFile !== undefined && existsSync(settings.adapt.killFile);
  const isStopped = (): boolean => signal.aborted || isKilled() || !state.switch.isOn;
  const runRows = async (rows: typeof learners.evidence, write: WriteFacts): Promise<void> => {
    if (!isKilled()) await runner.run(rows, { state, write });
  };
  const memory = withMemory(practice, {
    library,
    effects,
    records,
    clock,
    embed: ports.embed,
    catchUp: lessons.catchUp,
    autonomy: settings.autonomy,
    ...(practice === undefined ? {} : { practise: practice.practise }),
  });
  const reflection = await openReflection({ learners, runner, records, state, isStopped, clock });
  const verifiers = await createVerifiers(settings.verifiers, { ask: models.named('judge') });
  const learning = await startLearning({
    records,
    effects,
    evidence,
    state,
    budget,
    clock,
    log,
    lessonOf: library.lesson,
    observeRules: createRuleObserver({
      records,
      evidence,
      library,
      compareQuotes: createQuoteComparison(ports.embed),
      onWork: ports.onWork,
    }),
    reading: learners.reading,
    indexMessages: createIndexMessages({
      records,
      evidence,
      ...compact({ model: ports.sentenceModel && { ...ports.sentenceModel, embed: ports.embed } }),
    }),
    flows: createFlowWatch({ records, evidence }),
    observer: createObserver({ records, evidence, library, effects, log }),
    prices: createPrices(settings.prices),
    since: settings.since,
    isShared: ports.isShared,
    failures: settings.failures,
    watch: learners.limits,
    guard: (write) => runner.run([learners.limits], { state, write }),
    learn: (write) => runRows(learners.evidence, write),
    study: (write) => runRows(learners.models, write),
    settled: runner.settled,
    verify: async (session, wanted) =>
      settings.verifiers.length === 0
        ? []
        : verifySession({ session, wanted, verifiers, records, evidence, now: clock.now() }, signal),
    libraryChanged: (isErased) => (isErased ? lessons.reload() : lessons.catchUp()),
    reflection: reflection.last,
    onStatus: ports.onStatus,
  });
  return {
    wake: learning.wake,
    look: learning.look,
    settle: learning.settle,
    statements: createReadQuotes({ records, evidence, library, hasSecret, isStopped }),
    shorten: createPromptWriter({ ask: models.named('evolver'), hasSecret, newId }),
    practice: reflection.withReflection(memory),
    close: async () => {
      stop.abort();
      await memory.close();
      await learning.close();
    },
  };
}
