import { BACKUP } from './forms/backup.ts';
import { CHECKSUMS } from './forms/checksums.ts';
import { DONE_LOG } from './forms/done-log.ts';
import { FILE_NAMES } from './forms/file-names.ts';
import { HEADER_COMMENT } from './forms/header-comment.ts';
import { METADATA } from './forms/metadata.ts';
import { SORTED_KEYS } from './forms/sorted-keys.ts';
import { TICKET_PREFIX } from './forms/ticket-prefix.ts';
import { TIMES } from './forms/times.ts';
import { UNITS } from './forms/units.ts';
import type { AnyRuleForm } from './rule-form.ts';

/** All kinds of rules that a rule file can have. */
export const FORMS: readonly AnyRuleForm[] = [
  TIMES,
  FILE_NAMES,
  METADATA,
  BACKUP,
  DONE_LOG,
  TICKET_PREFIX,
  UNITS,
  SORTED_KEYS,
  HEADER_COMMENT,
  CHECKSUMS,
];
