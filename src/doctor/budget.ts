import type { BudgetStatus } from '../chain/budget.ts'
import { BUDGET_USED } from '../chain/endpoint.ts'
import type { ChainsieveError } from '../lib/errors.ts'
import { about, type Finding } from './finding.ts'

/** What is left of the budget of a node; undefined where nothing of a day or a month is limited. */
export const leftOf = (subject: string, status: BudgetStatus | undefined): Finding | undefined =>
  status && (status.day || status.month) ? about('node', subject).ok(textOf(status)) : undefined

/** That the budget has nothing left for being looked at, where that is the error. */
export const usedUp = (
  subject: string,
  error: ChainsieveError,
  status: BudgetStatus | undefined,
): Finding | undefined => {
  if (error.code !== BUDGET_USED || !status) return undefined
  return about('node', subject).warn(
    `its budget is used up, but for what is kept for the head, so it is not looked at: ${textOf(status)}`,
    'Wait until then, or raise --rpc-daily and --rpc-month.',
  )
}

const textOf = ({ costs, day, month }: BudgetStatus): string => {
  const unit = costs === 'calls' ? 'calls' : 'credits'
  const parts = [
    { period: day, when: 'today' },
    { period: month, when: 'this month' },
  ].flatMap(({ period, when }) =>
    period ? [`${period.left} of ${period.limit} ${unit} left ${when} (until ${period.endsAt.slice(0, 16)}Z)`] : [],
  )
  return parts.join(', ')
}
