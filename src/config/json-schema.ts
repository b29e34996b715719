import { z } from 'zod';
import { asObject, type JsonObject } from '../core/json.ts';
import { configSchema } from './schema.ts';

/** What a person may write in config.json, as JSON Schema 2020-12 for editors. */
export const configJsonSchema = (): JsonObject => ({
  title: 'Instar config',
  ...asObject(z.toJSONSchema(configSchema, { io: 'input', target: 'draft-2020-12' })),
});
