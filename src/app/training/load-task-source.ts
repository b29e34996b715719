import type { OpenTaskSource, TaskSource, TaskSourceRef } from '../../core/task-source.ts';
import { TrainingError } from '../../core/training.ts';

/** Opens the source that a plan names. Rejects with a TrainingError that names the module. */
export async function loadTaskSource({ module, options }: TaskSourceRef): Promise<TaskSource> {
  const failed = (why: string): TrainingError =>
    new TrainingError('user', `The task source ${module} cannot be used: ${why}`);
  if (!module.startsWith('file:')) throw failed('its module is not a file: URL.');
  try {
    const loaded: { readonly openTaskSource?: OpenTaskSource } = await import(module);
    if (typeof loaded.openTaskSource !== 'function') throw new Error('it exports no openTaskSource.');
    return await loaded.openTaskSource(options);
  } catch (error) {
    throw failed(error instanceof Error ? error.message : String(error));
  }
}
