import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ACCOUNTS_FILE } from '../accounts/file.ts'
import { nativeOption } from '../lib/runtime.ts'
import type { StoredRule } from '../rules/rule.ts'
import { openRules } from '../rules/store.ts'

/** Rules that are at work, of all accounts. */
export const enabledRules = (data: string): StoredRule[] => {
  if (!existsSync(join(data, ACCOUNTS_FILE))) return []
  const rules = openRules(data, nativeOption(data))
  try {
    return rules.all().filter(({ enabled, unfit }) => enabled && unfit === undefined)
  } finally {
    rules.close()
  }
}
