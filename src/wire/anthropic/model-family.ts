/** What a model refuses with a 400 although the format has a place for it. */
export interface ModelFamily {
  /** Newer models take an effort and refuse a token budget; older ones know only the budget. */
  readonly thinking: 'budget' | 'adaptive';
  /** It refuses to be told not to think. */
  readonly alwaysThinks: boolean;
  /** Which of temperature and top_p it takes together. */
  readonly sampling: 'both' | 'one' | 'none';
}

/** `claude-sonnet-4-20250514` is version 4.0: eight digits are a date and no minor version. */
const VERSION = /claude[-_]?(?:[a-z]+[-_])?(\d{1,2})(?:[-._](\d{1,2}))?(?!\d)/i;
/** A bound on the work that a stranger's text can cause. */
const LONGEST_NAME = 200;
const ALWAYS_THINKS = /claude[-_](?:fable|mythos)/i;

/**
 * Anthropic tells models apart by name only, so a translator must too. A name it does not know, such as another
 * vendor's behind this format, gets everything the format has.
 */
export function familyOf(name: string): ModelFamily {
  const model = name.slice(0, LONGEST_NAME);
  if (ALWAYS_THINKS.test(model)) return { thinking: 'adaptive', alwaysThinks: true, sampling: 'none' };
  const [, major, minor = '0'] = VERSION.exec(model) ?? [];
  const version = Number(major ?? 0) * 100 + Number(minor);
  if (version >= 407) return { thinking: 'adaptive', alwaysThinks: false, sampling: 'none' };
  return { thinking: 'budget', alwaysThinks: false, sampling: version >= 401 ? 'one' : 'both' };
}
