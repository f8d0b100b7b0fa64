import { PlainTable } from '../../parts/plain-table.tsx'
import { Time } from '../../parts/time.tsx'
import { plain } from '../../parts/visible.ts'
import type { Budget, Endpoint, Period } from './wire.ts'

interface Row extends Budget {
  url: string
}

/** What may still be asked of each node that has a budget. */
export const Budgets = ({ network, endpoints }: { network: string; endpoints: readonly Endpoint[] }) => {
  const rows = endpoints.flatMap(({ url, budget }): Row[] => (budget ? [{ url, ...budget }] : []))
  if (rows.length === 0) return null
  return <PlainTable label={`Budgets of ${network}`} columns={COLUMNS} rows={rows} keyOf={({ url }) => url} />
}

const COLUMNS = [
  { title: 'Budget of', cell: ({ url }: Row) => plain(url) },
  { title: 'Left today', cell: ({ url, day }: Row) => <Left of={`${url} today`} period={day} /> },
  { title: 'Left this month', cell: ({ url, month }: Row) => <Left of={`${url} this month`} period={month} /> },
  { title: 'At most', cell: ({ rate }: Row) => (rate === undefined ? 'any rate' : plain(rate)) },
  { title: 'Prices', cell: ({ costs }: Row) => (costs === 'calls' ? 'one credit a call' : plain(costs)) },
  { title: 'Spent since start', align: 'right', cell: ({ spent }: Row) => spent.toLocaleString() },
] as const

const Left = ({ of, period }: { of: string; period: Period | undefined }) => {
  if (!period) return <span class="dim">not limited</span>
  const { left, limit, endsAt } = period
  const share = limit > 0 ? left / limit : 0
  return (
    <>
      <span class="share" title={`used: ${period.used.toLocaleString()}`}>
        <meter aria-label={`Left of the budget of ${plain(of)}`} value={share} min={0} max={1} low={KEPT_FOR_HEAD} />
        <span class={share < KEPT_FOR_HEAD ? 'warn' : ''}>
          {left.toLocaleString()} of {limit.toLocaleString()}
        </span>
      </span>
      <span class="dim">
        until <Time value={endsAt} brief />
      </span>
    </>
  )
}

/** The share of a budget below which back-fills wait. */
const KEPT_FOR_HEAD = 0.1
