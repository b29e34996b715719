import { useEffect, useState } from 'preact/hooks';

export type Theme = 'light' | 'dark';

const STORED = 'instar-theme';
const darkSystem = matchMedia('(prefers-color-scheme: dark)');

const isTheme = (value: unknown): value is Theme => value === 'light' || value === 'dark';

function chosenTheme(): Theme {
  const stored = localStorage.getItem(STORED);
  return isTheme(stored) ? stored : darkSystem.matches ? 'dark' : 'light';
}

/** Sets the theme that the person chose, or else the system's. */
export function applyTheme(): Theme {
  const theme = chosenTheme();
  document.documentElement.dataset.theme = theme;
  return theme;
}

const CHANGED = 'instar-theme-changed';

/** The theme, and a switch. The choice of the system's theme is forgotten, not stored. */
export function useTheme(): readonly [Theme, () => void] {
  const [theme, setTheme] = useState(applyTheme);
  useEffect(() => {
    const read = (): void => setTheme(applyTheme());
    darkSystem.addEventListener('change', read);
    addEventListener(CHANGED, read);
    return () => {
      darkSystem.removeEventListener('change', read);
      removeEventListener(CHANGED, read);
    };
  }, []);
  const toggle = (): void => {
    const next: Theme = theme === 'dark' ? 'light' : 'dark';
    if ((next === 'dark') === darkSystem.matches) localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, next);
    dispatchEvent(new Event(CHANGED));
  };
  return [theme, toggle];
}
