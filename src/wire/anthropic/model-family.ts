/** What a model refuses with a 400 although the format allows it. */
export interface ModelFamily {
  /** Newer models accept an effort and refuse a token budget; older ones know only the budget. */
  readonly thinking: 'budget' | 'adaptive';
  /** It refuses `thinking: disabled`. */
  readonly alwaysThinks: boolean;
  /** Whether it accepts temperature and top_p together, one of them, or none. */
  readonly sampling: 'both' | 'one' | 'none';
}

/** `claude-sonnet-4-20250514` is version 4.0: eight digits are a date, not a minor version. */
const VERSION = /claude[-_]?(?:[a-z]+[-_])?(\d{1,2})(?:[-._](\d{1,2}))?(?!\d)/i;
/** Limits the work that an untrusted name can cause. */
const LONGEST_NAME = 200;
const ALWAYS_THINKS = /claude[-_](?:fable|mythos)/i;

/**
 * Anthropic's API gives no capabilities, so models are distinguished by name. An unknown name, such as another vendor's
 * model behind this format, gets everything that the format has.
 */
export function familyOf(name: string): ModelFamily {
  const model = name.slice(0, LONGEST_NAME);
  if (ALWAYS_THINKS.test(model)) return { thinking: 'adaptive', alwaysThinks: true, sampling: 'none' };
  const [, major, minor = '0'] = VERSION.exec(model) ?? [];
  const version = Number(major ?? 0) * 100 + Number(minor);
  if (version >= 407) return { thinking: 'adaptive', alwaysThinks: false, sampling: 'none' };
  return { thinking: 'budget', alwaysThinks: false, sampling: version >= 401 ? 'one' : 'both' };
}
