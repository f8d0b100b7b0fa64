import { text } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import { refuse } from '../../../lib/errors.ts'
import { didYouMean } from '../../../lib/nearest.ts'
import type { Context } from '../../command.ts'
import type { Cancelled, RuleBook, ShownRule } from '../../rules-service.ts'
import { bookOf } from '../../server-rules.ts'
import { count } from '../../show.ts'

/** What commands on the rules of one account take. */
export const BOOK = ['server', 'token'] as const
export const ACCOUNT = {
  account: setting(
    text('a name', 'NAME'),
    undefined,
    'Account of the rules in the data folder. It is needed if there are several.',
  ),
} as const

export const openBook = (
  { services, config, log, shutdown }: Pick<Context, 'services' | 'config' | 'log' | 'shutdown'>,
  account: string | undefined,
): RuleBook => bookOf(config, () => services.openRules(config, { log, shutdown }), account)

/** The rule that a word means: its number, or its whole name. */
export const choose = (rules: readonly ShownRule[], which: string): ShownRule => {
  const found = /^\d{1,15}$/.test(which) ? rules.filter(({ id }) => id === Number(which)) : []
  const named = found.length > 0 ? found : rules.filter(({ name }) => name === which)
  if (named.length === 1) return named[0]!
  if (named.length > 1)
    throw refuse(
      'many_rules',
      `${named.length} rules are called ${JSON.stringify(which)}: name one of ${idsOf(named)}.`,
    )
  const names = rules.map(({ name }) => name)
  throw refuse('unknown_rule', `There is no rule ${JSON.stringify(which)}.${didYouMean(which, names)}`)
}

export const idsOf = (rules: readonly ShownRule[]): string => rules.map(({ id }) => id).join(', ')

/** What became of the queued deliveries, as the end of a sentence. */
export const showCancelled = ({ cancelledDeliveries: cancelled }: Cancelled): string => {
  if (cancelled === undefined) return ''
  if (cancelled === null) return ' Its queued deliveries will be cancelled.'
  return cancelled === 0 ? '' : ` ${count(cancelled, 'queued delivery was', 'queued deliveries were')} cancelled.`
}
