// The default theme loads a font of its own; this entry is the same theme with the fonts of the reader's system.
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './site.css';

/** What a visitor sees first beside the title: the same question before and after one sentence. */
const CONVERSATION = [
  ['you', 'When was order 1041 shipped?'],
  ['agent', '16/11/2026'],
  ['you', 'No, we always use ISO dates in shipping reports.'],
  ['next', 'The next conversation'],
  ['you', 'When was order 1042 shipped?'],
  ['agent', '2026-11-17'],
];

const drawConversation = () =>
  h(
    'div',
    { class: 'conversation' },
    CONVERSATION.map(([who, words]) => h('p', { class: who }, words)),
  );

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, undefined, { 'home-hero-image': drawConversation }),
};
