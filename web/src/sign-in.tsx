import { useEffect, useState } from 'preact/hooks';
import { CallError, call, keepPageWord, SIGNED_OUT } from './lib/call.ts';
import { Command } from './parts/command.tsx';
import { Fault } from './parts/states.tsx';

export type SignIn = 'checking' | 'in' | 'out' | { readonly ok: false; readonly why: string };

/** The one-time code of the address, which is removed from it: it must not stay in the history or a screenshot. */
function takeCode(): string | undefined {
  const code = /^#code=([\w-]{8,200})$/.exec(location.hash)?.[1];
  if (code !== undefined) history.replaceState(null, '', `${location.pathname}#/`);
  return code;
}

export function useSignIn(): SignIn {
  const [state, setState] = useState<SignIn>('checking');
  useEffect(() => {
    const leave = (): void => setState('out');
    addEventListener(SIGNED_OUT, leave);
    const check = async (): Promise<void> => {
      try {
        const code = takeCode();
        // A page that is open already keeps its cookie when somebody opens an old address again.
        if (code !== undefined)
          await call<{ readonly word: string }>('POST', '/api/login', { body: { code } })
            .then(({ word }) => keepPageWord(word))
            .catch(onlyRefused);
        const { in: isIn } = await call<{ readonly in: boolean }>('GET', '/api/login');
        setState(isIn ? 'in' : 'out');
      } catch (error) {
        setState({ ok: false, why: error instanceof Error ? error.message : String(error) });
      }
    };
    void check();
    const again = (): void => {
      if (location.hash.startsWith('#code=')) void check();
    };
    addEventListener('hashchange', again);
    return () => {
      removeEventListener(SIGNED_OUT, leave);
      removeEventListener('hashchange', again);
    };
  }, []);
  return state;
}

function onlyRefused(error: unknown): void {
  if (!(error instanceof CallError) || error.status === 0) throw error;
}

/** Shown to whoever has no valid cookie. Nothing of the record is on it. */
export const SignedOut = ({ state }: { readonly state: Exclude<SignIn, 'checking' | 'in'> }) => (
  <main class="signed-out" id="main">
    <h1>Instar</h1>
    {state === 'out' ? (
      <>
        <p>
          This page shows what your agents said and what was learned from it, so it opens with a code that
          works once and for ten minutes. Run this in a terminal and open the address that it prints:
        </p>
        <Command>instar page</Command>
      </>
    ) : (
      <Fault message={state.why} retry={() => location.reload()} />
    )}
  </main>
);
