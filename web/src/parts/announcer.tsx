import { useEffect, useState } from 'preact/hooks';
import { Text } from './text.tsx';

interface Action {
  readonly words: string;
  run(): void;
}

interface Message {
  readonly text: string;
  readonly tone: 'plain' | 'bad';
  readonly action?: Action | undefined;
}

let tell: ((message: Message) => void) | undefined;

/** Says something in the corner of the page, and to screen readers. */
export function announce(text: string, tone: Message['tone'] = 'plain', action?: Action): void {
  tell?.({ text, tone, action });
}

const SHOWN_MS = 6000;
/** What can be undone stays until a person has read and reached it. */
const SHOWN_WITH_ACTION_MS = 30_000;

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
    const ms = message.action === undefined ? SHOWN_MS : SHOWN_WITH_ACTION_MS;
    const timer = setTimeout(() => setMessage(undefined), ms);
    return () => clearTimeout(timer);
  }, [message]);
  return (
    <div role="status" aria-live="polite" class="announcer">
      {message !== undefined && (
        <p class={message.tone === 'bad' ? 'announcement is-bad fade' : 'announcement fade'}>
          <Text>{message.text}</Text>
          {message.action !== undefined && (
            <button
              type="button"
              onClick={() => {
                setMessage(undefined);
                message.action?.run();
              }}
            >
              {message.action.words}
            </button>
          )}
        </p>
      )}
    </div>
  );
}
