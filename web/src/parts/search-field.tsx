import { useEffect, useRef, useState } from 'preact/hooks';

interface SearchFieldProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly isFocused?: boolean;
  readonly onChange: (value: string | undefined) => void;
}

const PAUSE_MS = 250;

/** Searches when typing pauses. `/` gets here from anywhere. */
export function SearchField({ label, value, isFocused, onChange }: SearchFieldProps) {
  const [typed, setTyped] = useState(value ?? '');
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (isFocused === true) field.current?.focus();
  }, [isFocused]);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  return (
    <input
      ref={field}
      type="search"
      aria-label={label}
      placeholder={`${label}  /`}
      value={typed}
      onInput={(event) => {
        const next = event.currentTarget.value;
        setTyped(next);
        window.clearTimeout(timer.current);
        timer.current = window.setTimeout(
          () => onChange(next.trim() === '' ? undefined : next.trim()),
          PAUSE_MS,
        );
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
}
