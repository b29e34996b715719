import type { Home } from '../src/config/home.ts';
import type { Config } from '../src/config/schema.ts';
import { openPolicyEngine } from './policy-engine.ts';
import { type ServedTraining, serveTraining, type TrainingOptions } from './serve-training.ts';

export interface OpenTrainingOptions extends Omit<TrainingOptions, 'engine' | 'gateTasks'> {
  readonly config: Config;
  readonly home: Home;
}

/** Training with the engine of the settings. Undefined when training is off. */
export function serveConfiguredTraining(options: OpenTrainingOptions): ServedTraining | undefined {
  const { config, home, env, clock, log } = options;
  return serveTraining({
    ...options,
    engine: openPolicyEngine({ settings: config.train, home, env, clock, log }),
    gateTasks: async () => (await import('./training-supply.ts')).countGateTasks(options),
  });
}
