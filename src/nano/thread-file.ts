/** A thread's file. Run from sources, as tests are, the built one is taken: a thread cannot read TypeScript. */
export function threadFile(name: string): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(isSource ? `../../dist/nano/${name}.js` : `./${name}.js`, import.meta.url);
}
