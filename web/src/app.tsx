import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Help } from './help.tsx';
import type { Facets, LessonPage } from './lib/api-shapes.ts';
import { call, SIGNED_OUT } from './lib/call.ts';
import { closeFeed, openFeed, useFeedState } from './lib/feed.ts';
import { useKeys } from './lib/keys.ts';
import { useLearnedNews } from './lib/learned-news.ts';
import { forgetResources, useResource } from './lib/resource.ts';
import { goTo, linkTo, useRoute, type ViewRoute } from './lib/route.ts';
import { useTheme } from './lib/theme.ts';
import { Announcer } from './parts/announcer.tsx';
import { Empty } from './parts/states.tsx';
import { View } from './parts/view.tsx';
import { SignedOut, useSignIn } from './sign-in.tsx';
import { GenerationsView } from './views/generations.tsx';
import { HomeView } from './views/home.tsx';
import { LabView } from './views/lab.tsx';
import { LessonsView, LessonView } from './views/lessons.tsx';
import { SessionView, TurnView } from './views/session.tsx';
import { SessionsView } from './views/sessions.tsx';
import { SettingsView } from './views/settings.tsx';

type Page = ComponentType<ViewRoute>;

/** A view without a title is reached from what it explains. */
const VIEWS: readonly (readonly [name: string, title: string, view: Page, one?: Page])[] = [
  ['home', 'Home', HomeView],
  ['lessons', 'Lessons', LessonsView, LessonView],
  ['sessions', 'Sessions', SessionsView, SessionView],
  ['lab', 'Lab', LabView, LabView],
  ['settings', 'Settings', SettingsView],
  ['generations', '', GenerationsView],
  ['turns', '', TurnView, TurnView],
];

export function App() {
  const signIn = useSignIn();
  useEffect(() => {
    if (signIn !== 'in') return;
    openFeed();
    return closeFeed;
  }, [signIn]);
  if (signIn === 'checking') return null;
  if (signIn !== 'in') return <SignedOut state={signIn} />;
  return <Shell />;
}

function Shell() {
  const route = useRoute();
  const [isHelping, setHelping] = useState(false);
  const [theme, switchTheme] = useTheme();
  const [name = 'home', id] = route.path;
  const [, , Whole, One] = VIEWS.find(([known]) => known === name) ?? [];
  const Shown = id === undefined ? Whole : One;
  const place = `${name}/${id ?? ''}`;

  // The heading gets the focus on a new view, as on a new page; on the first one the browser's own place stays.
  const isFirst = useRef(true);
  // Another view begins at its top.
  useEffect(() => {
    // A view that was opened at a turn, or to search, has given the focus to its own part already.
    const hasFocus = document.getElementById('main')?.contains(document.activeElement) === true;
    if (!isFirst.current && !hasFocus) {
      scrollTo(0, 0);
      document.getElementById('view-title')?.focus({ preventScroll: true });
    }
    isFirst.current = false;
  }, [place]);

  useShellKeys(() => setHelping(true), switchTheme);
  useLearnedNews();
  return (
    <>
      <div class="shell">
        <Side current={name} onHelp={() => setHelping(true)} theme={theme} onTheme={switchTheme} />
        <main id="main" tabIndex={-1} data-view={place}>
          {Shown === undefined ? <NoView name={name} /> : <Shown key={place} route={route} />}
        </main>
      </div>
      {isHelping && <Help onClose={() => setHelping(false)} />}
      <Announcer />
    </>
  );
}

const CHORD_MS = 1200;

function useShellKeys(help: () => void, theme: () => void): void {
  const chord = useRef(0);
  const go = (name: string) => (): void => {
    if (Date.now() - chord.current < CHORD_MS) goTo([name]);
  };
  useKeys({
    '?': help,
    t: theme,
    g: () => {
      chord.current = Date.now();
    },
    h: go('home'),
    s: go('sessions'),
    l: go('lessons'),
    '/': () => {
      const field = document.querySelector<HTMLInputElement>('input[type=search]');
      if (field === null) goTo(['sessions'], { search: 1 });
      else field.focus();
    },
  });
}

interface SideProps {
  readonly current: string;
  readonly theme: string;
  readonly onTheme: () => void;
  readonly onHelp: () => void;
}

function Side({ current, theme, onTheme, onHelp }: SideProps) {
  const waiting = useResource<LessonPage>('/api/page/lessons', {
    query: { state: 'proposed', limit: 1 },
    on: ['library', 'hello', 'reset'],
  }).value?.counts.states.proposed;
  const lab = useResource<Facets>('/api/page/facets', {
    on: ['practice', 'training', 'event', 'hello', 'reset'],
  }).value?.lab;
  const [isOpen, setOpen] = useState(false);
  const shown = VIEWS.filter(
    ([name, title]) => title !== '' && (name !== 'lab' || current === 'lab' || (lab ?? []).length > 0),
  );
  return (
    <header class={isOpen ? 'side is-open' : 'side'}>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <a class="brand" href={linkTo([])} onClick={() => setOpen(false)}>
        <Mark />
        Instar
      </a>
      <button
        type="button"
        class="menu"
        aria-expanded={isOpen}
        aria-controls="menu"
        onClick={() => setOpen(!isOpen)}
      >
        Menu
      </button>
      <div class="side-body" id="menu">
        <nav aria-label="Views">
          <ul>
            {shown.map(([name, title]) => (
              <li key={name}>
                <a
                  href={linkTo(name === 'home' ? [] : [name])}
                  aria-current={name === current ? 'page' : undefined}
                  onClick={() => setOpen(false)}
                >
                  {title}
                  {name === 'lessons' && waiting !== undefined && waiting > 0 && (
                    <span class="badge" title={`${waiting} to decide`}>
                      {waiting}
                      <span class="visually-hidden"> to decide</span>
                    </span>
                  )}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="side-foot">
          <FeedLight />
          <button type="button" class="quiet" onClick={onTheme}>
            {theme === 'dark' ? 'Light' : 'Dark'}
          </button>
          <button type="button" class="quiet" onClick={onHelp} aria-label="Keys">
            ?
          </button>
          <button type="button" class="quiet" onClick={leave}>
            Sign out
          </button>
        </div>
      </div>
    </header>
  );
}

async function leave(): Promise<void> {
  await call('POST', '/api/logout', { body: {} }).catch(() => undefined);
  forgetResources();
  dispatchEvent(new Event(SIGNED_OUT));
}

const FEED_WORDS = { connecting: 'connecting', live: 'live', lost: 'not connected' } as const;

function FeedLight() {
  const state = useFeedState();
  return (
    <span class={`feed-light is-${state}`} role="status">
      {FEED_WORDS[state]}
    </span>
  );
}

const Mark = () => (
  <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true" class="mark">
    <path d="M16 27a11 11 0 1 1 11-11M16 21a5 5 0 1 1 5-5" />
    <circle cx="27" cy="16" r="2.6" />
  </svg>
);

const NoView = ({ name }: { readonly name: string }) => (
  <View title="Not found">
    <Empty title={`There is no view named "${name.slice(0, 60)}".`}>
      <a href={linkTo([])}>Back to Home</a>
    </Empty>
  </View>
);
