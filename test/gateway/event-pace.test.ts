import { describe, expect, it } from 'vitest';
import { createReportPace } from '../../src/api/router/answers.ts';
import type { Caller } from '../../src/core/caller.ts';

const caller = (id: string, kind: Caller['kind'] = 'caller'): Caller => ({ kind, id, mayRate: false });

describe('the pace of events', () => {
  it('lets each key report so many a minute, names the pause, and never limits the owner', () => {
    const pace = createReportPace(3);
    for (let nth = 0; nth < 3; nth++) expect(pace(caller('k_1'), nth)).toBeUndefined();
    expect(pace(caller('k_1'), 10_000)).toMatchObject({ kind: 'rate-limited', retryAfterMs: 50_000 });
    expect(pace(caller('k_2'), 10_000)).toBeUndefined();
    for (let nth = 0; nth < 10; nth++) expect(pace(caller('owner_1', 'owner'), 10_000)).toBeUndefined();
    expect(pace(caller('k_1'), 60_000)).toBeUndefined();
  });
});
