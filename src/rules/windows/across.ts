import { covers, type RuleConfig, type StoredRule } from '../rule.ts'
import { sequenceParts } from './steps.ts'

/** Whether the windows or sequences of a rule are over all its networks, instead of each by itself. */
export const isAcross = (config: RuleConfig): boolean =>
  config.when !== undefined &&
  'within' in config.when &&
  (config.when.across === true || sequenceParts(config).some(({ network }) => network !== undefined))

/**
 * Paths of the networks that such a rule looks at, sorted: those that its steps name, if all do and no
 * `until` may come elsewhere, and otherwise all that it covers.
 */
export const networksAcross = (
  { network, input: { config } }: Pick<StoredRule, 'network' | 'input'>,
  known: readonly string[],
): string[] => {
  const named = sequenceParts(config).map(part => part.network)
  const covered = known.filter(one => covers(network, one))
  const own = named.filter(one => one !== undefined)
  return [...new Set([...own, ...(named.length > 0 && own.length === named.length ? [] : covered)])].sort()
}
