import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAccounts } from '../../src/accounts/index.ts'
import { type Config, type Flags, loadConfig } from '../../src/config/index.ts'
import type { Finding } from '../../src/doctor/finding.ts'
import type { RuleInput } from '../../src/rules/rule.ts'
import { openRules } from '../../src/rules/store.ts'
import { ruleBody, ruleConfig } from '../support/rules.ts'

export interface Test {
  after(fn: () => unknown): void
}

export const tempFolder = (t: Test): string => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-doctor-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export const configOf = (flags: Flags): Config => loadConfig({ flags, env: {} })

export const MAINNET = 'ethereum/ethereum/mainnet'

/** What was found, a line for each: `ok node: …`. */
export const linesOf = async (findings: AsyncIterable<Finding> | Iterable<Finding>): Promise<string[]> => {
  const lines: string[] = []
  for await (const { check, state, found } of findings) lines.push(`${state} ${check}: ${found}`)
  return lines
}

/** An account with a rule for each of these alerts. */
export const addRules = (data: string, alerts: readonly { type: string; parameters: object }[]) => {
  const accounts = openAccounts(data)
  accounts.createToken('alice')
  const account = accounts.accounts()[0]!.id
  accounts.close()
  const rules = openRules(data)
  for (const alert of alerts)
    rules.create(account, ruleBody({ config: ruleConfig({ alerts: [alert] }) }) as unknown as RuleInput, 1)
  rules.close()
}
