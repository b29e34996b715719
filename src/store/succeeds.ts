import { StoreError } from '../core/store.ts';

/** For work that may fail for now without harm to what was acknowledged: false when the store could not do it. */
export function succeeds(work: () => boolean): boolean {
  try {
    return work();
  } catch (error) {
    if (error instanceof StoreError && error.code !== 'closed') return false;
    throw error;
  }
}
