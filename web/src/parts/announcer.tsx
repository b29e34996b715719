import { useEffect, useState } from 'preact/hooks';

interface Message {
  readonly text: string;
  readonly tone: 'plain' | 'bad';
}

let tell: ((message: Message) => void) | undefined;

/** Says something in the corner of the page, and to screen readers. */
export function announce(text: string, tone: Message['tone'] = 'plain'): void {
  tell?.({ text, tone });
}

const SHOWN_MS = 6000;

export function Announcer() {
  const [message, setMessage] = useState<Message>();
  useEffect(() => {
    tell = setMessage;
    return () => {
      tell = undefined;
    };
  }, []);
  useEffect(() => {
    if (message === undefined) return;
    const timer = setTimeout(() => setMessage(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [message]);
  return (
    <div role="status" aria-live="polite" class="announcer">
      {message !== undefined && (
        <p class={message.tone === 'bad' ? 'announcement is-bad fade' : 'announcement fade'}>
          {message.text}
        </p>
      )}
    </div>
  );
}
