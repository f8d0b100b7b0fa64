import { missingExtracts } from '../../rules/extracts.ts'
import type { StoredRule } from '../../rules/rule.ts'
import type { AlertingService } from './service.ts'

/** Rules as their owner sees them: what was written, and what the server knows of each. */
export const showRules = async (service: AlertingService, rules: readonly StoredRule[]): Promise<object[]> => {
  const counts = await service.triggerCounts(rules)
  return rules.map(rule => ({
    id: rule.id,
    ...rule.input,
    enabled: rule.enabled,
    startBlock: rule.startBlock,
    createdAt: new Date(rule.createdAt).toISOString(),
    updatedAt: new Date(rule.updatedAt).toISOString(),
    triggerCount: counts.get(rule.id) ?? 0,
    idle: service.idle(rule) ?? null,
    warnings: [...service.warnings(rule.input), ...missingExtracts(rule.input)],
  }))
}
