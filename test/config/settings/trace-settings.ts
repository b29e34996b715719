import type { SettingProofs } from './setting-proof.ts';

const SERVED = (title: string) => ({ shownIn: 'test/served/served-traces.slow.ts', title });

/** Traces need a receiver and a daemon: the tests of both show what each setting does. */
export const TRACE_PROOFS: SettingProofs = {
  'traces.url': SERVED(
    'sends a span for a turn, with model, usage, session, generation and the lessons it was shown',
  ),
  'traces.headersEnv': SERVED(
    'sends the headers of the variable that traces.headersEnv names, and nothing of the words that were said',
  ),
  'traces.content=true': SERVED('adds the words of a turn and of a note, redacted as the record is'),
  'traces.content=false': SERVED(
    'sends the headers of the variable that traces.headersEnv names, and nothing of the words that were said',
  ),
};
