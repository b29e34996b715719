import { Tag, type Tone } from './view.tsx';

const TONES: Readonly<Record<string, Tone>> = {
  proposed: 'accent',
  trial: 'warn',
  live: 'good',
};
const WORDS: Readonly<Record<string, string>> = {
  proposed: 'to decide',
  trial: 'on trial',
};

/** The state of a lesson, in words. */
export const StateTag = ({ state }: { readonly state: string }) => (
  <Tag tone={TONES[state] ?? 'plain'}>{WORDS[state] ?? state}</Tag>
);
