import { Hash } from '../../parts/hash.tsx'
import { PlainTable } from '../../parts/plain-table.tsx'
import { RangeBar } from './range-bar.tsx'
import type { Filter, FullNetwork, ScopeCoverage, ScopeFilling } from './wire.ts'

/** What was looked for in blocks that are not held whole, and what is still being looked for. */
export const Scopes = ({ status: { network, coverage = [], filling } }: { status: FullNetwork }) => {
  const looked = [...coverage.flatMap(({ ranges }) => ranges), ...(filling ? [filling] : [])]
  const whole = {
    from: Math.min(...looked.map(({ from }) => from)),
    to: Math.max(...looked.map(({ to }) => to)),
  }
  return (
    <>
      {filling && <Filling network={network} filling={filling} />}
      {coverage.length > 0 && (
        <PlainTable
          label={`Scopes of ${network}`}
          columns={[
            { title: 'Contracts', cell: (filter: ScopeCoverage) => <Contracts network={network} filter={filter} /> },
            { title: 'Events', cell: (filter: ScopeCoverage) => <Events filter={filter} /> },
            {
              title: 'Blocks',
              cell: ({ ranges }: ScopeCoverage) => <RangeBar ranges={ranges} head={null} scoped whole={whole} />,
            },
          ]}
          rows={coverage}
          keyOf={one => coverage.indexOf(one)}
        />
      )}
    </>
  )
}

const Filling = ({ network, filling }: { network: string; filling: ScopeFilling }) => {
  const { from, to, next } = filling
  const [left, total] = [Math.max(0, to - next + 1), to - from + 1]
  return (
    <p role="status">
      Looks for <Events filter={filling} /> of <Contracts network={network} filter={filling} /> in blocks{' '}
      {from.toLocaleString()}–{to.toLocaleString()}: {left.toLocaleString()} of {total.toLocaleString()} are left.
    </p>
  )
}

const Contracts = ({ network, filter: { addresses, addressCount } }: { network: string; filter: Filter }) =>
  addressCount === 0 ? (
    <>any contract</>
  ) : (
    <Hashes values={addresses} count={addressCount} kind="address" network={network} />
  )

const Events = ({ filter: { topics, topicCount, transactions } }: { filter: Filter }) => {
  if (transactions) return <>transactions</>
  return topicCount === 0 ? <>all logs</> : <Hashes values={topics} count={topicCount} />
}

type HashesProps = { values: readonly string[]; count: number; kind?: 'address'; network?: string }

/** The first ones; how many more there are. */
const Hashes = ({ values, count, ...about }: HashesProps) => (
  <span class="hashes">
    {values.slice(0, SHOWN).map(value => (
      <Hash key={value} value={value} {...about} />
    ))}
    {count > SHOWN && <span class="dim">and {(count - SHOWN).toLocaleString()} more</span>}
  </span>
)

const SHOWN = 3
