import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Text } from './text.tsx';

interface ViewProps {
  readonly title: string;
  /** In the tab, where the heading has more than text. */
  readonly tab?: string;
  readonly above?: ComponentChildren;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The frame of a view: one heading, what the view is for, what can be done with all of it. */
export function View({ title, tab, above, lead, actions, children }: ViewProps) {
  useEffect(() => {
    document.title = `${tab ?? title} – Instar`;
  }, [tab, title]);
  return (
    <>
      <header class="view-head">
        {above !== undefined && <div class="view-above">{above}</div>}
        <div class="view-title">
          <h1 id="view-title" tabIndex={-1}>
            <Text>{title}</Text>
          </h1>
          {actions !== undefined && <div class="actions">{actions}</div>}
        </div>
        {lead !== undefined && <p class="lead">{lead}</p>}
      </header>
      {children}
    </>
  );
}

interface SectionProps {
  readonly title: string;
  readonly note?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export const Section = ({ title, note, actions, children }: SectionProps) => (
  <section class="section" aria-label={title}>
    <div class="section-head">
      <h2>{title}</h2>
      {note !== undefined && <span class="dim">{note}</span>}
      {actions !== undefined && <div class="actions">{actions}</div>}
    </div>
    {children}
  </section>
);

/** A list of names and values. */
export const Facts = ({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="facts">
    {rows.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

export type Tone = 'good' | 'bad' | 'warn' | 'accent' | 'plain';

export const Tag = ({
  tone = 'plain',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) => <span class={`tag is-${tone}`}>{children}</span>;
