import { useState } from 'preact/hooks';
import { announce } from './announcer.tsx';

/** A command to run in a terminal, with a button that copies it. */
export const Command = ({ children }: { readonly children: string }) => (
  <span class="command">
    <code>{children}</code>
    <CopyButton text={children} />
  </span>
);

const SHOWN_MS = 1600;

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      announce('Copied.');
      setTimeout(() => setDone(false), SHOWN_MS);
    } catch {
      announce('The browser did not allow copying. Select the text and copy it.', 'bad');
    }
  };
  return (
    <button type="button" class="quiet copy" onClick={copy} aria-label={`${label}: ${text}`}>
      {isDone ? 'Copied' : label}
    </button>
  );
}
