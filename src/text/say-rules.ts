interface ObservedRule {
  readonly lesson?: unknown;
  readonly outcome?: unknown;
}

/** `rules: kept 1 of 2, told again 1`: of those that an answer could keep or break. Undefined where there is nothing to say. */
export function sayRules(observed: readonly ObservedRule[]): string | undefined {
  const known = new Map<unknown, boolean>();
  for (const { lesson, outcome } of observed)
    if (outcome === 'kept' || outcome === 'broken')
      known.set(lesson, outcome === 'kept' && known.get(lesson) !== false);
  const kept = [...known.values()].filter(Boolean).length;
  const again = observed.filter(({ outcome }) => outcome === 'told-again').length;
  const words = [
    ...(known.size === 0 ? [] : [`kept ${kept} of ${known.size}`]),
    ...(again === 0 ? [] : [`told again ${again}`]),
  ];
  return words.length === 0 ? undefined : `rules: ${words.join(', ')}`;
}
