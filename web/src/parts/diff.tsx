import { useMemo } from 'preact/hooks';
import { diffLines } from '../../../src/text/line-diff.ts';
import { Text } from './text.tsx';

const SAID: Readonly<Record<string, string>> = { '-': 'removed: ', '+': 'added: ' };
const CLASSES: Readonly<Record<string, string>> = { '-': 'is-removed', '+': 'is-added' };

/** Two texts line by line, as a review shows them. */
export function Diff({ before, after }: { readonly before: string; readonly after: string }) {
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  return (
    <div class="diff">
      {lines.map(({ mark, line }, index) => (
        <div key={index} class={`diff-line ${CLASSES[mark] ?? ''}`}>
          <span class="diff-mark" aria-hidden="true">
            {mark}
          </span>
          <span class="visually-hidden">{SAID[mark]}</span>
          <Text>{line}</Text>
        </div>
      ))}
    </div>
  );
}
