import { parentPort, workerData } from 'node:worker_threads';
import { type IcsAnswer, type IcsQuestion, readIcs } from './read-ics.ts';

export type IcsThreadAnswer = IcsAnswer | 'unreadable';

const answer = (): IcsThreadAnswer => {
  try {
    return readIcs(workerData as IcsQuestion);
  } catch {
    return 'unreadable';
  }
};
parentPort?.postMessage(answer());
