import module from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Home } from '../config/home.ts';

/**
 * What a daemon asks of Node before its code is loaded. With a turn now and then, the optimising compiler of Node 20 takes more
 * CPU than its code ever saves; under load everything is still compiled, some seconds later. Node 22.8 and newer keep compiled
 * code in the home for the next start; a folder that cannot be written to only means that nothing is kept.
 */
export function prepareNode({ dir }: Pick<Home, 'dir'>): void {
  if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=300000');
  const node: object = module;
  if ('enableCompileCache' in node && typeof node.enableCompileCache === 'function')
    node.enableCompileCache(join(dir, 'compile-cache'));
}
