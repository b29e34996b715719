import { html, type Markup } from './markup.ts';

/** A part of the page; nothing at all where there is nothing to show. */
export const section = (title: string, about: string, content: readonly Markup[]): Markup | undefined =>
  content.length === 0
    ? undefined
    : html`<section><h2>${title}</h2>${about === '' ? undefined : html`<p class="soft">${about}</p>`}${content}</section>
`;
