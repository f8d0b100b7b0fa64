import { at } from '../../api/json.ts'
import type { SearchAnswer } from '../../api/wire.ts'
import { Empty } from '../../parts/empty.tsx'
import { Fault } from '../../parts/fault.tsx'
import { Busy } from '../../parts/progress.tsx'
import { AddressLink } from './address-link.tsx'
import { useSearches } from './ask.ts'
import { movementsOf } from './movements.tsx'
import type { ThingProps } from './page.tsx'
import { bucketsOf, numberAt } from './read.ts'

const MOST = 100

/** Tokens of which the address got or gave. */
export const AddressTokens = ({ network, id }: ThingProps) => {
  const tokens = { terms: { field: 'address.raw', size: MOST } }
  const found = useSearches(network, [
    { kinds: ['event'], body: { query: movementsOf(id), size: 0, aggs: { tokens } } },
  ])
  if (found.error !== undefined)
    return <Fault title="The tokens cannot be read" error={found.error} again={found.again} />
  if (!found.data) return <Busy label="Reading the tokens" />
  const { aggregations } = found.data[0] as SearchAnswer
  const buckets = bucketsOf(aggregations, 'tokens')
  const others = numberAt(at(aggregations, 'tokens'), 'sum_other_doc_count') ?? 0
  if (buckets.length === 0) return <Empty title="The blocks that are held show no token that it got or gave" />
  return (
    <>
      <p class="dim">Tokens that it got or gave in the blocks that are held. What it holds now is not known.</p>
      <ul class="counts">
        {buckets.map(({ key, count }) => (
          <li key={key}>
            <AddressLink network={network} value={key} kind="token" />{' '}
            <span>
              {count.toLocaleString()} {count === 1 ? 'movement' : 'movements'}
            </span>
          </li>
        ))}
      </ul>
      {others > 0 && <p class="dim">And {others.toLocaleString()} movements of other tokens.</p>}
    </>
  )
}
