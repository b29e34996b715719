import { StoreError } from '../core/store.ts';

/** For maintenance that may fail and be retried later: false when the store failed. */
export function succeeds(work: () => boolean): boolean {
  try {
    return work();
  } catch (error) {
    if (error instanceof StoreError && error.code !== 'closed') return false;
    throw error;
  }
}
