/** The config that the public contract shows. */
export const interfaceExample = {
  gateway: { port: 4600 },
  providers: { openai: { wire: 'openai', baseUrl: 'https://api.openai.com/v1', keyEnv: 'OPENAI_API_KEY' } },
  models: { default: 'openai/gpt-5.2', evolver: 'openai/gpt-5.2', judge: 'openai/gpt-5.2' },
  library: { topK: 6, tokenBudget: 1500, autonomy: 'guarded' },
  learn: { failures: 3, maxNewSkills: 3, flush: 'strict', budget: { usdPerDay: 1 } },
  practice: { groupSize: 3, temperature: 0.7, budget: { usd: 5 } },
  schedule: { sleep: '23:00-07:00', idleMinutes: 30, calendar: { ics: '…' } },
  train: { engine: 'nano' },
  store: { url: 'sqlite' },
};
