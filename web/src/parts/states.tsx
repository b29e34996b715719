import type { ComponentChildren } from 'preact';
import type { Resource } from '../lib/resource.ts';
import { Command } from './command.tsx';
import { Text } from './text.tsx';

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly command?: string | undefined;
}

/** Why there is nothing here, and what to do about it. */
export const Empty = ({ title, children, command }: EmptyProps) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    {children !== undefined && <div class="empty-text">{children}</div>}
    {command !== undefined && <Command>{command}</Command>}
  </div>
);

interface FaultProps {
  readonly message: string;
  readonly retry?: () => void;
}

export const Fault = ({ message, retry }: FaultProps) => (
  <div class="fault" role="alert">
    <p>
      <Text>{message}</Text>
    </p>
    {retry !== undefined && (
      <button type="button" onClick={retry}>
        Try again
      </button>
    )}
  </div>
);

interface LoadedProps<T> {
  readonly of: Resource<T>;
  /** The heading of a whole page, while it cannot be read. */
  readonly title?: string | undefined;
  readonly children: (value: T) => ComponentChildren;
}

/** What was read; before that, quiet lines; a failed read says why and can be repeated. */
export function Loaded<T>({ of, title, children }: LoadedProps<T>) {
  const { value, error, reload } = of;
  if (value === undefined && error === undefined) return <Loading />;
  return (
    <>
      {error !== undefined && value === undefined && title !== undefined && (
        <h1 id="view-title" tabIndex={-1}>
          {title}
        </h1>
      )}
      {error !== undefined && <Fault message={error.message} retry={reload} />}
      {value !== undefined && children(value)}
    </>
  );
}

export const Loading = () => (
  <div class="loading" role="status">
    <span class="visually-hidden">Loading</span>
    <i />
    <i />
    <i />
  </div>
);
